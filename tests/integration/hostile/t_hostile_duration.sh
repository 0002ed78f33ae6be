#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recording with a duration ends on time, although one JVM stops the process that attaches, one does not answer, one
# answers and does not connect, and one is stopped.
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/hostile.sh"

LATE_MS=10000 # the recording does not wait for a silent JVM, which alone would take 20 s
mapfile -t modes < <(./hostile --list asked)
start_hostile "${modes[@]}"
start_worker stopped
kill -STOP "$JAVA_PID"
began=$(date +%s%N)
start_record -F 99 -e cpu,alloc -d 3 -o trace -p "$JAVA_PID" "${HOSTILE_PID[@]/#/-p}"
echo "$RECORD_PID" >room/recorder
wait_under_way "${modes[@]}"
end_record
took_ms=$((($(date +%s%N) - began) / 1000000))
echo "took $took_ms ms"
[[ $took_ms -ge 3000 && $took_ms -lt $((3000 + LATE_MS)) ]] || fail "a recording of 3 s took $took_ms ms"
for pid in "$JAVA_PID" "${HOSTILE_PID[@]}"; do
	grep -qE "^braid: JVM $pid .* has no agent: " record.err || fail "no message about $pid: $(cat record.err)"
done
! pgrep -P "$RECORD_PID" || fail "a process is left"
kill -CONT "$JAVA_PID"
end_worker stopped "$JAVA_PID"
end_hostile
