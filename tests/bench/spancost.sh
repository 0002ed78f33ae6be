#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# spancost: measures what finding a thread's span costs a sample, by the kernel's own accounting of BPF run time: without
# a variable, with an empty one, and in a span, at a fixed place and in a block of the DTV. ROUNDS (5), HZ (999),
# SECONDS_EACH (2).
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

hz=${HZ:-999}
header spancost

# library NAME BYTES FLAG...
library()
{
	local name=$1 bytes=$2

	shift 2
	"${CC:-gcc}" -std=gnu11 -O2 -fPIC -shared -DLIBRARY="$bytes" "$@" -I"$BENCH/../../include" "$BENCH/spancost.c" -o "$TMP/$name.so"
}

"${CC:-gcc}" -std=gnu11 -O2 -I"$BENCH/../../include" "$BENCH/spancost.c" -o "$TMP/spancost" -pthread -ldl
library fixed 8 -ftls-model=initial-exec
library block 30000

# one WAY ARGUMENT...: adds ns per sample to WAY.ns
one()
{
	local way=$1 runs ns

	shift
	record_accounted "$way" "$hz" "${SECONDS_EACH:-2}" "$TMP/trace" "$TMP/spancost" "$@"
	read -r runs ns < <(account_of on_sample "$TMP/ids")
	[[ $runs -gt 0 ]] || die "$way: the kernel counted no run of on_sample"
	calc "$ns / $(stat_of "$TMP/trace" bpf_samples)" '%.0f\n' >>"$TMP/$way.ns"
	[[ $way != *-span ]] || braid report --by span "$TMP/trace" | grep -q '01010101' || die "$way: no spans"
}

for ((round = 0; round < ${ROUNDS:-5}; round++)); do
	one none
	one fixed-empty "$TMP/fixed.so" empty
	one fixed-span "$TMP/fixed.so"
	one block-span "$TMP/block.so"
done
echo
# A read of memory takes the same each time, and everything else on the machine only adds to it. The pairs are of the same
# moments.
echo "ns/sample, lowest    more    median  more in pairs  thread"
none=$(sort -g "$TMP/none.ns" | head -n 1)
for way in none fixed-empty fixed-span block-span; do
	ns=$(sort -g "$TMP/$way.ns" | head -n 1)
	pairs=$(paste "$TMP/$way.ns" "$TMP/none.ns" | awk '{print $1 - $2}' | median)
	printf '%17.0f  %+6.0f  %8.0f  %+13.0f  %s\n' "$ns" "$(calc "$ns - $none")" "$(median <"$TMP/$way.ns")" "$pairs" "$way"
done
