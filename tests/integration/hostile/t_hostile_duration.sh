#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recording with a duration ends on time, although one JVM stops the process that attaches, one does not answer, one
# answers and does not connect, and one is stopped.
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/hostile.sh"

LATE_MS=15000 # the recording does not wait for a silent JVM, which alone would take 20 s
HOSTILE_NICE=0 # they sleep most of the time, but have to answer in that of the recording
mapfile -t modes < <(./hostile --list asked)
start_hostile "${modes[@]}"
start_worker stopped
kill -STOP "$JAVA_PID"
began=$(date +%s%N)
start_record -F 99 -e cpu,alloc -d 3 -o trace -p "$JAVA_PID" "${HOSTILE_PID[@]/#/-p}"
echo "$RECORD_PID" >room/recorder
# One of the processes that attach is stopped: it ends only if the recorder sees to it.
attaches()
{
	pgrep -P "$RECORD_PID" >>children || gone_or_zombie "$RECORD_PID"
}
wait_for "a process that attaches" attaches
wait_under_way "${modes[@]}"
attaches || true
end_record
took_ms=$((($(date +%s%N) - began) / 1000000))
echo "took $took_ms ms"
[[ $took_ms -ge 3000 && $took_ms -lt $((3000 + LATE_MS)) ]] || fail "a recording of 3 s took $took_ms ms"
for pid in "$JAVA_PID" "${HOSTILE_PID[@]}"; do
	grep -qE "^braid: JVM $pid .* has no agent: " record.err || fail "no message about $pid: $(cat record.err)"
done
while read -r pid; do
	wait_for "the end of a process that attached" gone_or_zombie "$pid"
done <children
kill -CONT "$JAVA_PID"
end_worker stopped "$JAVA_PID"
end_hostile
