#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# start: measures how long a recording takes to begin and to end. It records one second of a busy process, native or a
# JVM that is attached to for the first time. The times are from the command's start to the first sample, and from the
# end of that second to the command's return; the CPU time includes the verification of BPF programs. Medians. ROUNDS
# (5).
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

rounds=${ROUNDS:-5}

header start
echo
echo "braid record -d 1 -p PID, medians of $rounds"
echo "events   program  first sample ms  end to shell ms  own CPU s  target                     "

# busy: starts a process that has used its CPU for half a second. Sets BUSY_PID.
busy()
{
	if [[ $1 == JVM ]]; then
		"$JAVA" -cp "$BUILD/bench/java" Shares 60 >/dev/null &
	else
		awk 'BEGIN { while (1) i++ }' &
	fi
	BUSY_PID=$!
	STARTED=("$BUSY_PID")
	wait_for "the program" has_run 50
}

# has_run TICKS: usually hundredths of a second
has_run()
{
	[[ $(awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$BUSY_PID/stat") -ge $1 ]]
}

# times_of TRACE START END: milliseconds to the first sample, and from the end of the recorded second to END, the
# shell's time
times_of()
{
	braid script --raw "$1" | awk -v start="$2" -v end="$3" '
		function value(key) { match($0, " " key "=[0-9]+"); return substr($0, RSTART + length(key) + 2, RLENGTH - length(key) - 2) }
		$1 == "clock" && !begun { begun = value("monotonic_ns") / 1e6; shift = value("realtime_ns") / 1e6 - begun }
		$1 == "sample" { at = value("time_ns") / 1e6; if (!first || at < first) first = at }
		END { printf "%.1f %.1f\n", first + shift - start * 1e3, end * 1e3 - begun - 1000 - shift }'
}

# one EVENTS PROGRAM FIRST-MS CPU-S: prints a row; the last two are the targets.
one()
{
	local events=$1 program=$2 round start end first over user system

	for ((round = 0; round < rounds; round++)); do
		busy "$program"
		start=$EPOCHREALTIME
		TIMEFORMAT='%3U %3S'
		{ time "$BUILD/braid" record -q -d 1s --preset "$events" -o "$TMP/trace" -p "$BUSY_PID" 2>"$TMP/err"; } 2>"$TMP/time"
		end=$EPOCHREALTIME
		kill "$BUSY_PID"
		wait "$BUSY_PID" 2>/dev/null || true
		read -r user system <"$TMP/time"
		read -r first over < <(times_of "$TMP/trace" "$start" "$end")
		echo "$first" >>"$TMP/first.$events.$program"
		echo "$over" >>"$TMP/over.$events.$program"
		calc "$user + $system" '%.3f\n' >>"$TMP/cpu.$events.$program"
	done
	first=$(median <"$TMP/first.$events.$program")
	over=$(median <"$TMP/over.$events.$program")
	user=$(median <"$TMP/cpu.$events.$program")
	printf '%-8s %-7s %16.0f %16.0f %10.2f  at most %d, 300, %.2f: %s\n' "$events" "$program" "$first" "$over" "$user" "$3" "$4" \
		"$(met "$first <= $3 && $over <= 300 && $user <= $4")"
}

one cpu native 400 0.35
one cpu JVM 400 0.35
one all native 1000 0.80
one all JVM 1000 0.80
