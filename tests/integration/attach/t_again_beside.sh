#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Consecutive recordings of a JVM beside one that continues, killed or not: their remains in the JVM do not grow, and
# the last one is like the first. The JVM has as many copies of the agent as recorders ran at once.
# class: long
# takes: 20 s
source "$(dirname "$0")/../lib.sh"

descriptors()
{
	find "/proc/$JAVA_PID/fd" -type l | wc -l
}
# The agent is dormant again: as many descriptors as before.
has_descriptors()
{
	[[ $(descriptors) -eq $1 ]]
}
# again FILE [SIGNAL]: one recording, ended by the signal.
again()
{
	start_record -F 997 -p "$JAVA_PID" -o "$1"
	wait_joined "$JAVA_PID"
	burn jvm 60
	if [[ -n ${2:-} ]]; then
		kill "-$2" "$RECORD_PID"
		wait_end "$RECORD_PID" "the recording"
	else
		stop_record
	fi
}
short='i["lost"] == {} and i["samples"]["total"] >= 60 and mostly_whole(with_frame("Worker.spin")) and all_named(with_frame("Worker.spin"))'

start_worker jvm
start_record -F 997 -p "$JAVA_PID" -o beside.trace
beside=$RECORD_PID
wait_joined "$JAVA_PID"
# The JVM answers the one that has attached when the agent has connected.
is_attached()
{
	! grep -q " 03 [0-9]* /tmp/\.java_pid$JAVA_PID\$" /proc/net/unix
}
wait_for "the end of the attaching" is_attached
resting=$(descriptors)
again first.trace
check first.trace "the first beside another" "$short"
[[ $(own_copies "$JAVA_PID") -eq 2 ]] || fail "copies that two recorders have left: $(own_copies "$JAVA_PID")"
for n in 1 2 3 4 5 6; do
	again again.trace "$([[ $n -ne 3 ]] || echo 9)"
	wait_for "the second agent's sleep" has_descriptors "$resting"
	[[ $(own_copies "$JAVA_PID") -eq 2 ]] || fail "copies in round $n: $(own_copies "$JAVA_PID")"
done
check again.trace "the last beside another" "$short"
RECORD_PID=$beside
stop_record
check beside.trace "the one beside them" 'well() and i["samples"]["total"] > 400'
wait_for "the agents' sleep" no_ring "$JAVA_PID"

# Two that start together use the same copy.
together=()
for n in 1 2; do
	"$BUILD/braid" record -F 997 -p "$JAVA_PID" -o "together$n.trace" 2>"together$n.err" &
	together+=("$!")
done
for RECORD_PID in "${together[@]}"; do
	wait_joined "$JAVA_PID"
done
for RECORD_PID in "${together[@]}"; do
	burn jvm 60 "$RECORD_PID"
	stop_record
done
check together1.trace "one of two" "$short"
check together2.trace "the other" "$short"
[[ $(own_copies "$JAVA_PID") -eq 2 ]] || fail "copies after two at once: $(own_copies "$JAVA_PID")"
end_worker jvm "$JAVA_PID"
