#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The JVM ends first, which ends the recording.
# class: quick
source "$(dirname "$0")/../lib.sh"

start_worker jvm
start_record -F 997 -p "$JAVA_PID" -o a.trace
wait_attached "$JAVA_PID"
burn jvm 300
end_worker jvm "$JAVA_PID"
end_record
no_leftovers
check a.trace \
	"stacks" 'well() and all_named(with_frame("Worker.spin")) and alike("old-0", "old-1") and i["lost"] == {}' \
	"its end" 'r["file"]["ended"]'
braid script a.trace | finds 'braid:process_exit\|braid:exit' || fail "the end of the process is not in the trace"
