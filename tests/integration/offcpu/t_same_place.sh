#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A thread that sleeps in the same place again and again is walked only if its callers have changed, and each time off the
# CPU has the callers that it had: of native, interpreted and compiled frames.
# class: long
source "$(dirname "$0")/../lib.sh"

"${CC:-gcc}" -std=gnu11 -O1 -g -fno-optimize-sibling-calls "$TEST_DIR/switcher.c" -o switcher -pthread

start_program native.trace.truth ./switcher 4000 wait
start_record -q -F 99 -e 'cpu,offcpu=0ns/each/' -p "$JAVA_PID" -o native.trace
wait_sampling
go_on
wait_says native.trace.truth "done"
stop_record
end_program
events native.trace \
	"each nap below its caller" "[len([e for e in of('offcpu') if e.flags >> 20 & 15 == 3 and e.thread.name == n and f in e.stack])
		for n in ('napper-short', 'napper-long') for f in ('left', 'right')] == [120, 40, 9, 3]" \
	"all have stacks" "most(e.stack != [] for e in of('offcpu'))" \
	"handovers without a walk, although each has a sleeper and a waker" "0 < int(stats['bpf_stacks']) < 6000" \
	"nothing lost" "lost == []"

"${CC:-gcc}" -std=gnu11 -O1 -g -fno-optimize-sibling-calls "$TEST_DIR/steady.c" -o steady -pthread

# record_steady TRACE MODE ARGUMENT...: a run of ./steady with these arguments, from its start to its end.
record_steady()
{
	start_program "$1.truth" ./steady "${@:3}"
	start_record -q -F 99 -e "cpu,offcpu=0ns/$2/" -p "$JAVA_PID" -o "$1"
	wait_sampling
	go_on
	wait_says "$1.truth" "done"
	stop_record
	end_program
}

# Added up, the place of a thread that switches all the time is looked at once a millisecond.
record_steady steady.trace aggregate 10 20000
events steady.trace \
	"waits below their callers" "all(abs(total([e for e in of('counted', number=5) if e.thread.name == 'taker' and side in e.stack and
		e.flags >> 20 & 15 != 1]) - int(truth[side][0][0])) <= total_early for side in ('left', 'right')
		for total_early in [int(truth['left'][0][1]) + int(truth['right'][0][1])])" \
	"there were more of them" "int(truth['left'][0][0]) > 10 * int(truth['left'][0][1])" \
	"nothing lost" "lost == []"

# As events, it is looked at five times as often. They come faster than a recorder reads that gets no CPU for a tenth of a
# second, as beside other tests; what has no room then is counted.
record_steady each.trace each 4 2000
events each.trace \
	"waits below their callers" "all(abs(len([e for e in of('offcpu') if e.thread.name == 'taker' and side in e.stack and
		e.flags >> 20 & 15 != 1]) - int(truth[side][0][0])) <= total_early + sum(n for _, _, n in lost) for side in ('left', 'right')
		for total_early in [int(truth['left'][0][1]) + int(truth['right'][0][1])])" \
	"their wakers are below the other thread's function" "all(e.other_stack == [] or 'gives' in e.other_stack for e in of('offcpu')
		if e.thread.name == 'taker' and e.flags >> 20 & 15 != 1)" \
	"most of them are there" "2 * sum(n for _, _, n in lost) < len(of('offcpu'))"

for mode in -Xint -Xmixed; do
	"$BUILD/braid" record -q -e 'offcpu=0ns/comm=="java" && each/' -o java.trace -- "$JAVA" "$mode" -cp "$CLASSES" SamePlace
	# A nap can be cut short by a preemption, and a safepoint can follow it.
	events java.trace \
		"$mode: each nap below its caller" "all(195 <= len([e for e in of('offcpu') if e.duration_ns >= 5e5 and e.flags >> 20 & 15 != 1 and
			'SamePlace.nap' in e.stack and 'SamePlace\$' + caller + '.call' in e.stack]) <= 205 for caller in ('Left', 'Right'))" \
		"$mode: naps without a walk" "0 < int(stats['bpf_stacks']) < len(of('offcpu')) - 200"
done
