#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A JVM from its first instruction to its last.
source "$(dirname "$0")/lib.sh"

PREFIX="$BUILD/braid record -F 997 -o l.trace --" start_worker jvm
wait_child "$JAVA_PID" java
wait_attached "$CHILD"
ask jvm burn 300
end_worker jvm "$JAVA_PID"
no_leftovers
check l.trace \
	"stacks" 'whole(with_frame("Worker.spin")) >= 99 and all_named(with_frame("Worker.spin")) and i["lost"] == {}' \
	"the JVM, from its start" "jvm($CHILD)['threads_started'] > 5 and total('Worker.main') > 0" \
	"threads" 'thread("old-0") > 100 and thread("old-1") > 100'
braid report l.trace | finds 'there from the start' || fail "the report does not say how the agent came in"
[[ $(cat jvm.out) == $'ready null\ndone burn 300' ]] || fail "the program's output is not its own: $(cat jvm.out)"
