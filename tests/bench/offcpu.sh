#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# offcpu: what following threads on and off the CPU costs a program that does nothing else. PAIRS (9) of times of
# WINDOW_S (0.4); WORK_NS (8500): of a loop between two switches, for about 100,000 switches a second; RECORDINGS (all);
# PROGRAMS (work nothing call): switches with that loop, without, and system calls.
#
# Recordings begin and end beside one run of a program (switches.c), which counts its work per second of its own CPU
# time. Each time with a recording is compared with those before and after.
#
# floor: empty programs at the two tracepoints, and no recording. idle, others: recordings of another process, without
# and with `offcpu`. The other recordings are of the program:
#   wait     the event type `wait`
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

pairs=${PAIRS:-9}
read -ra of_switches <<<"${RECORDINGS:-idle floor others wait counted short default filter named sums flood each}"
window=${WINDOW_S:-0.4}
warm=${WARM_S:-2.6} # threads that slept when they were found have a program of their own for two seconds
sleep 86400 &
OTHER=$!
STARTED+=("$OTHER")

# recorded NAME: begins the recording of this name, if it is one.
recorded()
{
	case $1 in
	wait) start_recording "" -e wait -p "$PROGRAM" ;;
	counted) start_recording "" -e 'offcpu=1h/each/' -p "$PROGRAM" ;;
	short) start_recording "" -e offcpu=1h -p "$PROGRAM" ;;
	default) start_recording "" -e offcpu -p "$PROGRAM" ;;
	filter) start_recording "" -e 'offcpu=0ns/state=="block"/' -p "$PROGRAM" ;;
	named) start_recording "" -e 'offcpu=0ns/comm~"no*such"/' -p "$PROGRAM" ;;
	sums) start_recording "" -e 'offcpu=0ns/aggregate/' -p "$PROGRAM" ;;
	flood) start_recording "" -e offcpu=0ns -p "$PROGRAM" ;;
	each) start_recording "" -e 'offcpu=0ns/each/' -p "$PROGRAM" ;;
	idle) start_recording "" -e gc -p "$OTHER" ;;
	others) start_recording "" -e offcpu -p "$OTHER" ;;
	esac
}

# empty_programs: starts the programs that do nothing
empty_programs()
{
	"$BUILD/bench/switch_floor" >"$TMP/floor" &
	RECORDER=$!
	STARTED+=("$RECORDER")
	wait_for "empty programs" grep -q ready "$TMP/floor"
}

one_time()
{
	if [[ $1 == floor ]]; then
		empty_programs
	else
		recorded "$1"
	fi
	if [[ $1 != plain ]]; then
		say warm
		sleep "$warm"
		say pause
	fi
	sleep 0.1
	say "$1"
	sleep "$window"
	say pause
	sleep 0.05
	if [[ $1 == floor ]]; then
		kill "$RECORDER"
		wait "$RECORDER"
	elif [[ $1 != plain ]]; then
		end_recording
		echo "$1 $(lost_of "$TMP/trace")" >>"$TMP/lost"
	fi
}

# lost NAME: what its recordings have lost, of any kind
lost()
{
	awk -v name="$1" '$1 == name { sum += $2; found = 1 } END { print found ? sum : "-" }' "$TMP/lost"
}

# row WHAT NAME PLAIN-NS: the ratio's median, and what that is for each switch or call
row()
{
	local cost

	ratios plain "$2" >"$TMP/ratios"
	cost=$(slower 0.5)
	printf '%-30s %-10s %9.0f %9.2f %%  %9s  %-18s %7s\n' "$1" "$2" "$3" "$cost" \
		"$(calc "$3 / (1 - $cost / 100) - $3" %+.0f)" "$(slower 0.75) to $(slower 0.25)" "$(lost "$2")"
}

# rows WHAT NAME... : alternates plain times with each of them
rows()
{
	local what=$1 name i plain

	shift
	: >"$TMP/lost"
	for ((i = 0; i < pairs; i++)); do
		for name in "$@"; do
			one_time plain
			one_time "$name"
		done
	done
	one_time plain
	sleep 0.1
	plain=$(awk '$1 == "plain" { print $2 / $3 * 1e9 }' "$TMP/out" | median)
	for name in "$@"; do
		row "$what" "$name" "$plain"
	done
}

header offcpu
echo "what                           recording   ns plain slower by         ns  quartiles in %        lost"
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
		rows "system call" idle others counted
		;;
	*) die "no such program: $program" ;;
	esac
	end_program
done
