#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# stackcost: measures what stacks of known kind and depth cost in the kernel, by the kernel's own accounting of BPF run
# time: the same stack at every tick and another one at every tick; with warm and with cold caches. HZ (999),
# SECONDS_EACH (2), KINDS ("native java interpreted mixed"), MODES ("same changing"), CACHES ("warm cold").
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

hz=${HZ:-999}
seconds=${SECONDS_EACH:-2}

header stackcost
echo
echo "Sampling at $hz Hz, $seconds s each; on every CPU a thread with such a stack. Runs that find nothing to record are counted in"
echo "kind          stack     caches   samples  known  frames/sample  java native  ns/sample  ns/frame   lost incomplete"

# command KIND DEPTH MODE CACHES: sets CMD.
command_of()
{
	local java=("$JAVA" -Xmx200m -XX:+UseSerialGC -XX:-Inline -Djava.library.path="$BUILD/bench" -cp "$BUILD/bench/java")

	case $1 in
	native) CMD=("$BUILD/bench/stackcost" "$2" "$3" "$4") ;;
	java) CMD=("${java[@]}" -XX:-TieredCompilation -Xbatch StackCost java "$2" "$3" "$4") ;;
	interpreted) CMD=("${java[@]}" -Xint StackCost java "$2" "$3" "$4") ;;
	mixed) CMD=("${java[@]}" -XX:-TieredCompilation -Xbatch StackCost mixed "$2" "$3" "$4") ;;
	*) die "no kind of stack '$1'" ;;
	esac
}

# one KIND DEPTH MODE CACHES: prints a row, adds "frames ns" to fit.KIND.MODE.CACHES.
one()
{
	local kind=$1 depth=$2 mode=$3 caches=$4 trace=$TMP/trace samples java native frames runs ns

	command_of "$kind" "$depth" "$mode" "$caches"
	record_accounted "$kind" "$hz" "$seconds" "$trace" "${CMD[@]}"
	info_of "$trace"
	samples=$(stat_of "$trace" bpf_samples)
	java=$(stat_of "$trace" bpf_frames_java)
	native=$(stat_of "$trace" bpf_frames_native)
	frames=$((java + native + $(stat_of "$trace" bpf_frames_kernel)))
	read -r runs ns < <(account_of on_sample "$TMP/ids")
	[[ $runs -gt 0 && $samples -gt 0 ]] || die "$kind: the kernel counted no run of on_sample"
	printf '%-13s %-9s %-6s %9d %6s %14s %5s %6s %10s %9s %6d %10s\n' "$kind $depth" "$mode" "$caches" "$samples" \
		"$(calc "100 - 100 * $(stat_of "$trace" bpf_stacks_sent) / $samples" %.0f%%)" \
		"$(calc "$frames / $samples" %.1f)" "$(calc "$java / $samples" %.0f)" "$(calc "$native / $samples" %.0f)" \
		"$(calc "$ns / $samples" %.0f)" "$(calc "$ns / $frames" %.1f)" "$(info_sum "$trace" lost)" \
		"$(calc "$(info "$trace" samples.total) - $(info "$trace" samples.complete)" %d)"
	echo "$kind $mode $caches $(calc "$frames / $samples" %.3f) $(calc "$ns / $samples" %.1f)" >>"$TMP/rows"
}

# slope KIND MODE CACHES: "fixed per-frame", by least squares of ns against frames
slope()
{
	awk -v want="$1 $2 $3" '
		$1 " " $2 " " $3 == want { n++; sx += $4; sy += $5; sxx += $4 * $4; sxy += $4 * $5 }
		END {
			d = n * sxx - sx * sx
			if (n < 2 || d == 0) exit
			b = (n * sxy - sx * sy) / d
			printf "%.0f %.1f\n", (sy - b * sx) / n, b
		}' "$TMP/rows"
}

depths()
{
	case $1 in
	mixed) echo "${DEPTHS:-6}" ;;
	*) echo "${DEPTHS:-5 60 200}" ;;
	esac
}

: >"$TMP/rows"
for mode in ${MODES:-same changing}; do
	for caches in ${CACHES:-warm cold}; do
		for kind in ${KINDS:-native java interpreted mixed}; do
			for depth in $(depths "$kind"); do
				one "$kind" "$depth" "$mode" "$caches"
			done
		done
	done
done
# each_of KIND: ns per frame of the same stack with warm caches, for the targets
each_of()
{
	slope "$1" same warm | cut -d' ' -f2
}

echo
echo "By depth:      stack     caches   ns fixed  ns/frame"
for mode in ${MODES:-same changing}; do
	for caches in ${CACHES:-warm cold}; do
		for kind in ${KINDS:-native java interpreted}; do
			read -r fixed each < <(slope "$kind" "$mode" "$caches") || continue
			printf '%-14s %-9s %-6s %10s %9s\n' "$kind" "$mode" "$caches" "$fixed" "$each"
		done
	done
done

echo
echo "What it is made of, with everything in the caches: ns beside the round of the loop"
"$BUILD/bench/parts"

# target WHAT FIGURE LIMIT
target()
{
	[[ -z $2 ]] || echo "target: $1: at most $3 ns: $2, $(met "$2 <= $3")"
}

target "a native frame of a stack that stays" "$(each_of native)" 120
target "a compiled frame of a stack that stays" "$(each_of java)" 60
target "an interpreted frame of a stack that stays" "$(each_of interpreted)" 60
target "60 mixed frames, everything" "$(awk '$1 == "mixed" && $2 == "same" && $3 == "warm" { printf "%.0f", $5 * 60 / $4 }' "$TMP/rows")" 6000
