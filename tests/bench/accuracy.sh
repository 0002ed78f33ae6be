#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# accuracy: compares braid's shares with a program's own measurement. The program spends 50, 30 and 20 percent of its
# CPU time in three methods; it runs interpreted, compiled by C1 and compiled by C2. SECONDS_EACH (15), HZ (997).
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

seconds=${SECONDS_EACH:-15}
hz=${HZ:-997}
limit=2

header accuracy
echo
echo "CPU shares, self-measured (thread CPU clock) and reported, $seconds s at $hz Hz"
echo "mode         method           own %  reported %   difference   samples  target"

# share_of COLLAPSED METHOD: samples with the method anywhere in the stack, and samples with any of the three.
share_of()
{
	awk -v wanted="$2" '
		{
			weight = $NF
			sub(/ [0-9]+$/, "")
			stack = ";" $0 ";"
			if (index(stack, ";Shares.half;") || index(stack, ";Shares.third;") || index(stack, ";Shares.fifth;"))
				all += weight
			if (index(stack, ";" wanted ";"))
				one += weight
		}
		END { print one + 0, all + 0 }' "$1"
}

# one MODE JAVA-OPTION...
one()
{
	local mode=$1 method own samples all reported trace=$TMP/$1.trace

	shift
	braid record -q -F "$hz" -o "$trace" -- "$JAVA" "$@" -cp "$BUILD/bench/java" Shares "$seconds" >"$TMP/own"
	braid export --format collapsed "$trace" >"$TMP/collapsed"
	while read -r method own; do
		read -r samples all < <(share_of "$TMP/collapsed" "$method")
		reported=$(calc "100 * $samples / $all")
		printf '%-12s %-14s %7.2f  %10s  %11s  %8d  %s\n' "$mode" "$method" "$own" "$reported" \
			"$(calc "$reported - $own" %+.2f)" "$all" \
			"$(met "($reported - $own) ^ 2 <= $limit ^ 2") (within $limit)"
	done <"$TMP/own"
}

one interpreted -Xint
one C1 -XX:TieredStopAtLevel=1
one C2 -XX:-TieredCompilation
one tiered
