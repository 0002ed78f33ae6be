#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# methodcost: measures what a call of a timed method costs beside the two readings of the clock that it needs: without
# timing, below its time, and above it, where calls have events at most 1000 times a second, also with values; and below it by
# several threads at once, which count in the same place. ROUNDS (200) of COUNT (100,000), THREADS (1 2 4).
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

rounds=${ROUNDS:-200}
header methodcost
echo
echo "ns a call, the fastest of $rounds rounds, and their median"
echo "method                      call          two clocks  difference"

# one WHAT LIST [THREADS]: the first quarter of the rounds is for the compilers.
one()
{
	local calls clocks

	braid record -q -e "$2" -o "$TMP/trace" -- "$JAVA" -cp "$BUILD/bench/java" MethodCost "$rounds" "${COUNT:-100000}" "${@:3}" 2>/dev/null |
		tail -n +$((rounds / 4)) >"$TMP/ns"
	calls=$(awk '{ print $1 }' "$TMP/ns" | sort -g | head -n 1)
	clocks=$(awk '{ print $2 }' "$TMP/ns" | sort -g | head -n 1)
	printf '%-22s %6s %8s %9s %8s %8s\n' "$1" "$calls" "$(awk '{ print $1 }' "$TMP/ns" | median)" "$clocks" \
		"$(awk '{ print $2 }' "$TMP/ns" | median)" "$(calc "$calls - $clocks" %.1f)"
}

one "not timed" cpu
one "below its time" 'method=MethodCost.called>1s'
one "the same, two values" 'method=MethodCost.called>1s/arg1,arg2/'
one "above its time" 'method=MethodCost.called>0'
one "the same, two values" 'method=MethodCost.called>0/arg1,arg2/'
echo
echo "CPU ns a call, of threads that all call one method, below its time"
for threads in ${THREADS:-1 2 4}; do
	one "$threads thread(s)" 'method=MethodCost.calledByMany>1s' "$threads"
done
