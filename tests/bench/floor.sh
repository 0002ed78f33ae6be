#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# floor: measures what sampling costs by itself, and what braid adds. HZ ("997 99"); PAIRS (150) of times of WINDOW_S
# (0.05).
#
# The floor is a clock event whose BPF program returns at once, which every sampler needs. It alternates with nothing,
# on each CPU and on the program's threads alone, and with braid's sampling, within one run of a program and one
# recording of it. The program adds up the time that interrupts take from it (gaps.c): throughput varies too much to
# show a hundredth of a percent. An interval is one of the median: in 95 of 100 runs it contains the true one, whatever
# the distribution. The table also has the kernel's own accounting of the programs' run time.
# shellcheck source=switched.sh
source "$(dirname "$0")/switched.sh"

pairs=${PAIRS:-150}
window=${WINDOW_S:-0.05}

# The current sampling: none, floor, threads (the floor on the program's threads) or braid.
sampling=none
use()
{
	[[ $1 != "$sampling" ]] || return 0
	case $sampling in
	floor) kill -USR2 "$TICK" ;;
	threads) kill -USR2 "$TICK_THREADS" ;;
	braid) braid ctl "$RECORDER" disable cpu >"$TMP/ctl" ;;
	esac
	case $1 in
	floor) kill -USR1 "$TICK" ;;
	threads) kill -USR1 "$TICK_THREADS" ;;
	braid) braid ctl "$RECORDER" enable cpu >"$TMP/ctl" ;;
	esac
	sampling=$1
}

# alternate A B: alternates times with A and times with B; $TMP/out has their names.
alternate()
{
	local i

	for ((i = 0; i <= 2 * pairs; i++)); do
		use "${@:1 + i % 2:1}"
		say "$sampling"
		sleep "$window"
		say pause
	done
}

# row HZ WHAT WITHOUT WITH
row()
{
	ratios "$3" "$4" >"$TMP/ratios"
	COST=$(slower 0.5)
	printf '%5s  %-38s %5d %9.2f %%  %s\n' "$1" "$2" "$(wc -l <"$TMP/ratios")" "$COST" "$(median_interval)"
}

# ns_a_run PROGRAM: of the programs in TMP/ids
ns_a_run()
{
	local runs ns

	read -r runs ns < <(account_of "$1" "$TMP/ids")
	[[ $runs -gt 0 ]] || die "the kernel counted no run of $1"
	calc "$ns / $runs" %.0f
}

# accounted HZ: the share of a CPU that the runs at that rate take
accounted()
{
	local braid_ns tick_ns

	kill "$ACCOUNT"
	wait "$ACCOUNT" 2>/dev/null || true
	braid_ns=$(ns_a_run on_sample)
	tick_ns=$(ns_a_run on_tick)
	OWN=$(calc "($braid_ns - $tick_ns) * $1 / 1e7" %.3f)
	printf '%5s  %-38s %5s %9.2f %%  %d ns a sample, %d ns of an empty program\n' "$1" "braid's part, accounted" - "$OWN" \
		"$braid_ns" "$tick_ns"
}

one()
{
	local hz=$1 limit=$2

	start_account on_sample on_tick
	start_counting gaps "$BUILD/bench/gaps"
	"$BUILD/bench/tick" "$hz" >"$TMP/tick" &
	TICK=$!
	"$BUILD/bench/tick" "$hz" "$PROGRAM" >"$TMP/tick_threads" &
	TICK_THREADS=$!
	STARTED+=("$TICK" "$TICK_THREADS")
	wait_for "the empty event" grep -q ready "$TMP/tick"
	wait_for "that of threads" grep -q ready "$TMP/tick_threads"
	start_recording "" -F "$hz" -e cpu -p "$PROGRAM"
	sampling=braid
	alternate none floor
	alternate floor threads
	alternate floor braid
	use none
	programs_of "$RECORDER"
	cp "$TMP/ids" "$TMP/recorder.ids"
	programs_of "$TICK"
	cat "$TMP/recorder.ids" >>"$TMP/ids"
	end_recording
	kill "$TICK" "$TICK_THREADS"
	wait "$TICK" "$TICK_THREADS" || true
	end_program
	row "$hz" "an empty event on each CPU, the floor" none floor
	row "$hz" "on the program's threads instead" floor threads
	row "$hz" "braid's part on top" floor braid
	echo "target: braid's part is at most $limit % at $hz Hz: $COST, $(met "$COST <= $limit")" >>"$TMP/targets"
	accounted "$hz"
	echo "target: the same, accounted: $OWN, $(met "$OWN <= $limit")" >>"$TMP/targets"
	STARTED=()
}

header floor
echo
echo "A thread that is interrupted by nothing else, in times of $window s with and without; medians of pairs and their 95 % intervals."
echo "   Hz  what                                   pairs  slower by    interval in %"
: >"$TMP/targets"
for hz in ${HZ:-997 99}; do
	one "$hz" "$(calc "($hz > 500) ? 0.5 : 0.1" %.1f)"
done
cat "$TMP/targets"
