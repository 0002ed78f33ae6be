#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# fieldcost: measures what a write to a watched field costs, and what a loop costs that touches no field meanwhile: not watched;
# by braid, which rewrites the code that writes; and by the event FieldModification of JVM TI.
# ROUNDS (60) of COUNT (100,000).
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

rounds=${ROUNDS:-60}
header fieldcost
echo
echo "ns a round, the fastest of $rounds rounds, and their median"
echo "watched                        a write          another loop"

# one WHAT COMMAND...: the first quarter of the rounds is for the compilers.
one()
{
	local what=$1 column

	shift
	"$@" FieldCost "$rounds" "${COUNT:-100000}" 2>/dev/null | tail -n +$((rounds / 4)) >"$TMP/ns"
	printf '%-26s' "$what"
	for column in 1 2; do
		awk -v "c=$column" '{ print $c }' "$TMP/ns" >"$TMP/column"
		printf ' %8s %8s' "$(sort -g "$TMP/column" | head -n 1)" "$(median <"$TMP/column")"
	done
	echo
}

# recorded LIST
recorded()
{
	one "$1" braid record -q -e "$1" -o "$TMP/trace" -- "$JAVA" -cp "$BUILD/bench/java"
}

recorded gc
recorded 'field=FieldCost.written'
recorded 'field=FieldCost.written/old,new/'
one FieldModification "$JAVA" "-agentpath:$BUILD/bench/libfieldwatch.so" -cp "$BUILD/bench/java"
