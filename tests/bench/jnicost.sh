#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# jnicost: measures what pairs of JNI calls cost that create and delete a reference, or begin and end a critical section:
# recorded or not. ROUNDS (50) of COUNT (10,000).
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

rounds=${ROUNDS:-50}
header jnicost
echo
echo "ns a pair, the fastest of $rounds rounds, and their median"
echo "recorded                global ref         weak ref         critical section"

# one LIST
one()
{
	local column

	braid record -q -e "$1" -o "$TMP/trace" -- "$JAVA" -cp "$BUILD/bench/java" JniCost "$BUILD/bench/libjnicost.so" \
		"$rounds" "${COUNT:-10000}" 2>/dev/null >"$TMP/ns"
	printf '%-20s' "$1"
	for column in 1 2 3; do
		awk -v "c=$column" '{ print $c }' "$TMP/ns" >"$TMP/column"
		printf ' %8s %8s' "$(sort -g "$TMP/column" | head -n 1)" "$(median <"$TMP/column")"
	done
	echo
}

one gc
one jni
one jni-critical=1s
