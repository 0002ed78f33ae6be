#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A running JVM whose threads and compiled code are older than the recording.
# class: quick
source "$(dirname "$0")/../lib.sh"

start_worker jvm
start_record -F 997 -p "$JAVA_PID" -o a.trace
wait_attached "$JAVA_PID"
burn jvm 500
stop_record
no_leftovers
check a.trace "stacks" 'well() and i["lost"] == {}'
check a.trace "older threads have their names" 'alike("old-0", "old-1")'
check a.trace "older code has its names" \
	'mostly_match(with_frame("Worker.spin"), ";Worker.Old.run;Worker.alpha;Worker.beta;Worker.gamma;Worker.spin")'
check a.trace "one JVM, attached to" "len(i['jvms']) == 1 and jvm($JAVA_PID)['version'] and jvm($JAVA_PID)['methods'] > 0"
braid report --full a.trace | finds 'attached to the running JVM' || fail "the report does not say how the agent came in"
end_worker jvm "$JAVA_PID"
