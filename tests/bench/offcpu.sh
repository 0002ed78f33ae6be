#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# offcpu: what following threads on and off the CPU costs a program that does nothing else. PAIRS (400) of times of
# WINDOW_S (0.02); WORK_NS (8500): of a loop between two switches, for about 100,000 switches a second; RECORDINGS;
# PROGRAMS (work nothing call): switches with that loop, without, and system calls; OTHER: another braid, for recordings whose
# names end in -other.
#
# All recordings go on beside one run of a program (switches.c), which counts its work per second of its own CPU time. The
# programs of all but one at a time are off their tracepoints (switchable.c), and of all of them every other time, which
# is what each time is compared with. An interval is one of the median: in 95 of 100 runs it contains the true one.
#
# floor: empty programs at the two tracepoints, and no recording. others: a recording of another process. The other
# recordings are of the program:
#   counted  offcpu=1h that only counts
#   short    offcpu=1h, which adds up all that is shorter
#   default  offcpu
#   filter   offcpu=0ns with a filter by reason that selects nothing
#   named    the same with a filter by name
#   sums     offcpu=0ns, added up by stack
#   flood    offcpu=0ns, which is added up from 10,000 a second on
#   each     every switch with its stack, and its waker's
# shellcheck source=switched.sh
source "$(dirname "$0")/switched.sh"

pairs=${PAIRS:-400}
window=${WINDOW_S:-0.02}
settle=0.01
read -ra of_switches <<<"${RECORDINGS:-floor others counted short default filter named sums flood each}"
declare -A to from recorder # by name: pipes of orders and answers, and the process

# options_of NAME: sets OPTIONS to what is recorded
options_of()
{
	case ${1%-other} in
	counted) OPTIONS=(-e 'offcpu=1h/each/' -p "$PROGRAM") ;;
	short) OPTIONS=(-e offcpu=1h -p "$PROGRAM") ;;
	default) OPTIONS=(-e offcpu -p "$PROGRAM") ;;
	filter) OPTIONS=(-e 'offcpu=0ns/state=="block"/' -p "$PROGRAM") ;;
	named) OPTIONS=(-e 'offcpu=0ns/comm~"no*such"/' -p "$PROGRAM") ;;
	sums) OPTIONS=(-e 'offcpu=0ns/aggregate/' -p "$PROGRAM") ;;
	flood) OPTIONS=(-e offcpu=0ns -p "$PROGRAM") ;;
	each) OPTIONS=(-e 'offcpu=0ns/each/' -p "$PROGRAM") ;;
	others) OPTIONS=(-e offcpu -p "$ANOTHER") ;;
	*) die "no such recording: $1" ;;
	esac
}

# begin NAME: begins the recording, or the floor
begin()
{
	local name=$1 program=$BUILD/braid

	[[ $name != *-other ]] || program=${OTHER:?}
	rm -f "$TMP/$name".{to,from}
	mkfifo "$TMP/$name".{to,from}
	if [[ $name == floor ]]; then
		"$BUILD/bench/switch_floor" <"$TMP/floor.to" >"$TMP/floor.from" &
	else
		options_of "$name"
		SWITCHABLE=$TMP/$name LD_PRELOAD=$BUILD/bench/libswitchable.so "$program" record -q -o "$TMP/$name.trace" \
			"${OPTIONS[@]}" 2>"$TMP/$name.err" &
	fi
	recorder[$name]=$!
	STARTED+=("$!")
	exec {TO_IT}<>"$TMP/$name.to" {FROM_IT}<>"$TMP/$name.from"
	to[$name]=$TO_IT
	from[$name]=$FROM_IT
	RECORDER=$!
	[[ $name == floor ]] || wait_for "the recording ($name)" listens ""
}

# turn NAME on|off
turn()
{
	local programs

	echo "$2" >&"${to[$1]}"
	read -r -t 60 programs <&"${from[$1]}" || die "$1 does not answer: $(tail -n 3 "$TMP/$1.err" 2>/dev/null)"
	[[ $programs -gt 0 ]] || die "$1 has no programs at tracepoints"
}

# finish NAME: ends it; LOST gets what it has lost
finish()
{
	local name=$1 to_it=${to[$1]} from_it=${from[$1]}

	LOST=-
	if [[ $name == floor ]]; then
		kill "${recorder[$name]}"
		wait "${recorder[$name]}" || true
	else
		kill -INT "${recorder[$name]}"
		wait "${recorder[$name]}" || die "$name failed: $(tail -n 3 "$TMP/$name.err")"
		LOST=$(lost_of "$TMP/$name.trace")
	fi
	exec {to_it}>&- {from_it}<&-
}

# one_time NAME: counts work for a while under this name
one_time()
{
	say settle
	sleep "$settle"
	say pause
	say "$1"
	sleep "$window"
	say pause
}

# row WHAT NAME PLAIN-NS: the ratio's median, and what that is for each switch or call
row()
{
	ratios plain "$2" >"$TMP/ratios"
	COST=$(slower 0.5)
	finish "$2"
	printf '%-30s %-13s %8.0f %9.2f %%  %7s  %-16s %7s\n' "$1" "$2" "$3" "$COST" \
		"$(calc "$3 / (1 - $COST / 100) - $3" %+.0f)" "$(median_interval)" "$LOST"
}

# rows WHAT NAME... : alternates plain times with each of them
rows()
{
	local what=$1 name i plain

	shift
	for name in "$@"; do
		begin "$name"
		turn "$name" on
	done
	say warm
	sleep 4 # threads that slept when they were found have a program of their own for two seconds
	say pause
	for name in "$@"; do
		turn "$name" off
	done
	for ((i = 0; i < pairs; i++)); do
		for name in "$@"; do
			one_time plain
			turn "$name" on
			one_time "$name"
			turn "$name" off
		done
	done
	one_time plain
	sleep 0.1
	plain=$(awk '$1 == "plain" { print $2 / $3 * 1e9 }' "$TMP/out" | median)
	for name in "$@"; do
		row "$what" "$name" "$plain"
	done
}

sleep 86400 &
ANOTHER=$!
STARTED+=("$ANOTHER")
header offcpu
echo "what                           recording     ns plain slower by       ns  interval in %       lost"
read -ra programs <<<"${PROGRAMS:-work nothing call}"
for program in "${programs[@]}"; do
	case $program in
	work)
		start_counting pipe "$BUILD/bench/switches" pipe "${WORK_NS:-8500}"
		rows "switch, ${WORK_NS:-8500} ns between" "${of_switches[@]}"
		;;
	nothing)
		start_counting pipe "$BUILD/bench/switches" pipe 0
		rows "switch, nothing between" "${of_switches[@]}"
		;;
	call)
		start_counting call "$BUILD/bench/switches" call
		rows "system call" others counted
		;;
	*) die "no such program: $program" ;;
	esac
	end_program
done
