#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# braid is killed: the trace can be read, the JVM lives on and can be recorded again.
source "$(dirname "$0")/lib.sh"

start_worker jvm
start_record -F 997 -p "$JAVA_PID" -o a.trace
wait_attached "$JAVA_PID"
tell jvm burn 300
bigger_than()
{
	[[ $(stat -c %s "$1") -gt $2 ]]
}
wait_for "the first block of samples" bigger_than a.trace 8192
kill -9 "$RECORD_PID"
wait_end "$RECORD_PID" "the recording"
check a.trace \
	"what was recorded" 'complete() >= 98 and named() >= 99 and thread("old-0") > 50' \
	"how it ended" 'not r["file"]["ended"] and r["file"]["no_index"]'
braid replay a.trace | cmp - <(braid report a.trace)
wait_for "the agent's sleep" no_ring "$JAVA_PID"
ask jvm burn 10
# Nobody was there to do it.
rm -rf "${LAID_DOWN[@]}"
LAID_DOWN=()
start_record -F 997 -p "$JAVA_PID" -o b.trace
wait_attached "$JAVA_PID"
ask jvm burn 200
stop_record
no_leftovers
check b.trace "the second recording" 'complete() >= 98 and named() >= 99 and thread("old-0") > 50 and r["file"]["ended"]'
end_worker jvm "$JAVA_PID"
