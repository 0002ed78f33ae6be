#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A JVM is recorded from its first instruction to its last.
# class: quick
source "$(dirname "$0")/../lib.sh"

PREFIX="$BUILD/braid record -F 997 -o l.trace --" start_worker jvm
wait_child "$JAVA_PID" java
wait_attached "$CHILD"
burn jvm 300 "$JAVA_PID"
end_worker jvm "$JAVA_PID"
no_leftovers
check l.trace \
	"stacks" 'mostly_whole(with_frame("Worker.spin")) and all_named(with_frame("Worker.spin")) and i["lost"] == {}' \
	"the JVM, from its start" "jvm($CHILD)['threads_started'] > 5 and total('Worker.main') > 0" \
	"threads" 'alike("old-0", "old-1")'
braid report --full l.trace | finds 'there from the start' || fail "the report does not say how the agent came in"
[[ $(sort -u jvm.out) == $'done burn 100\nready null' ]] || fail "the program's output is not its own: $(cat jvm.out)"
