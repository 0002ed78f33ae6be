#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Children of a recorded process are recorded, and their JVMs get the agent.
# takes: 8 s
source "$(dirname "$0")/../lib.sh"

mkfifo go jvm.in
bash -c 'read -r _ <go; exec "$0" -cp "$1" Worker' "$JAVA" "$CLASSES" <jvm.in >jvm.out 2>jvm.err &
shell=$!
exec {hold}>jvm.in
start_record -F 997 -p "$shell" -o exec.trace
wait_sampling
echo >go
open_worker jvm "$shell"
exec {hold}>&-
wait_attached "$shell"
burn jvm 300
stop_record
no_leftovers
end_worker jvm "$shell"
check exec.trace "a shell that became a JVM" "len(i['jvms']) == 1 and jvm($shell)['methods'] > 0 and at_least(weight([(s, n) for s, n in with_java() if not nameless(s)]), weight(with_java()), 98)" \
	"its threads" 'alike("old-0", "old-1")'

mkfifo child.in
"$BUILD/braid" record -F 997 -o child.trace -- "$JAVA" -cp "$CLASSES" Parent <child.in >child.out 2>child.err &
RECORD_PID=$!
open_worker child
wait_child "$RECORD_PID" java
parent=$CHILD
wait_child "$parent" java
wait_attached "$CHILD"
burn child 300 "$RECORD_PID"
end_worker child "$RECORD_PID"
no_leftovers
check child.trace "the child of a JVM" "sorted(j['pid'] for j in i['jvms']) == sorted([$parent, $CHILD])" \
	"its threads" "alike('old-0', 'old-1') and jvm($CHILD)['methods'] > 0"
