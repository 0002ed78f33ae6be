#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program with thousands of children that end at once: the recorder frees their state when it is not needed any more,
# and afterwards has no more to do than before.
source "$(dirname "$0")/../lib.sh"

CHILDREN=2500

"${CC:-gcc}" -std=gnu11 -O1 "$TEST_DIR/forks.c" -o forks
# Without the rings, whose pages count as they are touched.
resident_kb()
{
	sed -n 's/^RssAnon:\s*\([0-9]*\) kB/\1/p' "/proc/$RECORD_PID/status"
}

# What the recorder's loop takes of a CPU in 0.4 seconds in which the program waits: the least of some, as the machine
# has other work.
idle_us()
{
	local before after i least=

	for ((i = 0; i < 5; i++)); do
		read -r before _ <"/proc/$RECORD_PID/schedstat"
		sleep 0.4
		read -r after _ <"/proc/$RECORD_PID/schedstat"
		[[ -n $least && $least -le $((after - before)) ]] || least=$((after - before))
	done
	echo $((least / 1000))
}

has_said()
{
	[[ $(grep -c 'done' out) -ge $1 ]] || gone_or_zombie "$JAVA_PID"
}

start_program out ./forks $CHILDREN
start_record -F 9 -o forks.trace -p "$JAVA_PID"
wait_sampling
first_us=$(idle_us)
go_on
wait_for "the first children" has_said 1
sleep 3 # the recorder keeps an ended process for two seconds
before_kb=$(resident_kb)
go_on
wait_for "the other children" has_said 2
more_kb=$(($(resident_kb) - before_kb))
sleep 3
then_us=$(idle_us)
end_program
end_record
echo "the second $CHILDREN children cost $more_kb kB; idle: $first_us µs before, $then_us µs after them"
[[ $more_kb -le 4096 ]] || fail "the second $CHILDREN children cost $more_kb kB"
[[ $then_us -le $((2 * first_us + 2000)) ]] || fail "the recorder takes $then_us µs, before the children $first_us µs"
check forks.trace "it was recorded" 'i["samples"]["total"] > 0'
