#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two recordings of one JVM at a time: the second works, or explains why not.
source "$(dirname "$0")/../lib.sh"

start_worker jvm
start_record -F 997 -p "$JAVA_PID" -o first.trace
first=$RECORD_PID
wait_attached "$JAVA_PID"
rings=$(grep -c 'bpf-map' "/proc/$JAVA_PID/maps")
"$BUILD/braid" record -F 997 -p "$JAVA_PID" -o second.trace 2>second.err &
second=$!
two_rings()
{
	[[ $(grep -c 'bpf-map' "/proc/$JAVA_PID/maps") -ge $((2 * $1)) ]]
}
second_answered()
{
	grep -q "process $JAVA_PID" second.err || two_rings "$rings"
}
wait_for "the second recording's word" second_answered
burn jvm 300 "$second"
RECORD_PID=$second
stop_record
burn jvm 100 "$first"
RECORD_PID=$first
stop_record
check first.trace "the first" 'well() and alike("old-0", "old-1")'
check second.trace "the second" \
	"i['samples']['total'] >= 300 and (well() and with_frame('Worker.spin') or notice('process $JAVA_PID'))"
wait_for "the agent's sleep" no_ring "$JAVA_PID"
start_record -F 997 -p "$JAVA_PID" -o third.trace
wait_attached "$JAVA_PID"
burn jvm 100
stop_record
check third.trace "the third, alone" 'well() and alike("old-0", "old-1")'
end_worker jvm "$JAVA_PID"
