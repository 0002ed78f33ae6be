#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cost: measures what the sampling program takes in the kernel, per sample and per frame, by the kernel's accounting of
# BPF run time and by braid's own counters. WORKLOADS ("deep sunflow sat4j9"), HZ (997), LIMIT_S (10).
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

hz=${HZ:-997}
limit=${LIMIT_S:-10}

header cost
echo
echo "Sampling at $hz Hz for $limit s at most. Runs that find nothing to record are in the kernel's figure, not in braid's own"
echo "workload      samples      runs  frames/sample  ns/sample  ns/frame  own ns/sample  own ns/frame  % of a CPU       drain: runs     ns/run"

# runs_of NAME: "runs ns" of all programs with that name
runs_of()
{
	awk -v name="$1" '$1 == name { runs += $2; ns += $3 } END { printf "%d %d\n", runs, ns }' "$TMP/account"
}

# one NAME
one()
{
	local name=$1 trace=$TMP/$1.trace samples frames own runs ns drains drain_ns status=0

	start_account on_sample drain
	braid record -q --kill -F "$hz" -d "$limit" -o "$trace" -- "${CMD[@]}" >"$TMP/out" 2>&1 || status=$?
	kill "$ACCOUNT"
	wait "$ACCOUNT"
	STARTED=()
	[[ -s $trace ]] || die "$name: recording ended with status $status: $(tail -n 3 "$TMP/out")"

	info_of "$trace"
	samples=$(stat_of "$trace" bpf_samples)
	own=$(stat_of "$trace" bpf_cpu_ns)
	frames=$(($(stat_of "$trace" bpf_frames_java) + $(stat_of "$trace" bpf_frames_native) +
		$(stat_of "$trace" bpf_frames_kernel)))
	read -r runs ns < <(runs_of on_sample)
	[[ $runs -gt 0 ]] || die "the kernel counted no run of on_sample"
	read -r drains drain_ns < <(runs_of drain)
	printf '%-11s %9d %9d %14s %10s %9s %14s %13s %11s %16d %10s\n' "$name" "$samples" "$runs" \
		"$(calc "$frames / $samples" %.1f)" "$(calc "$ns / $samples" %.0f)" "$(calc "$ns / $frames" %.1f)" \
		"$(calc "$own / $samples" %.0f)" "$(calc "$own / $frames" %.1f)" \
		"$(calc "$ns / 1e7 / $(info "$trace" duration_s)" %.3f)" "$drains" "$(calc "$drain_ns / $drains" %.0f)"
	echo "$samples $frames $ns" >>"$TMP/fit"
}

# The best fit of ns = a * samples + b * frames to the rows.
fit()
{
	awk '
		{ # each row has the same weight, however long it took
			x = $2 / $1; y = $3 / $1
			n++; sx += x; sy += y; sxx += x * x; sxy += x * y
		}
		END {
			d = n * sxx - sx * sx
			if (n < 2 || d == 0) exit
			b = (n * sxy - sx * sy) / d
			printf "of all rows: %.0f ns a sample and %.1f ns a frame (least squares)\n", (sy - b * sx) / n, b
		}' "$TMP/fit"
}

: >"$TMP/fit"
for name in ${WORKLOADS:-deep sunflow sat4j9}; do
	workload "$name" && one "$name"
done
fit
