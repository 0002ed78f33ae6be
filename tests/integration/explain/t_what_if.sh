#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What --what-if predicts of a program is what happens when the program is changed like that.
# takes: 18 s
source "$(dirname "$0")/../lib.sh"

for mode in locked free slow fast far near heavy light paced eager; do
	"${UNDISTURBED[@]}" "$BUILD/braid" record --preset wall -F 499 -o "$mode.trace" -- "$JAVA" -cp "$CLASSES" WhatIf "$mode" \
		>out 2>err || fail "$(cat err)"
done

# The time of "coordinator" in a trace, with changes.
takes()
{
	local trace=$1 change options=()

	shift
	for change; do options+=(--what-if "$change"); done
	braid explain --thread coordinator --json "${options[@]}" "$trace.trace" |
		python3 -c 'import json, sys; e = json.load(sys.stdin); print(e.get("predicted_s", e["time_s"]))'
}

near()
{
	python3 -c '
import sys
was, predicted, found = map(float, sys.argv[2:])
print(f"{sys.argv[1]}: {was:.3f} s, predicted {predicted:.3f} s, in fact {found:.3f} s")
assert abs(predicted - found) < 0.1 * found and found < 0.8 * was, sys.argv' "$@"
}

near 'without the lock' "$(takes locked)" "$(takes locked Journal=0 cpu=0)" "$(takes free cpu=0)"
# other programs take the CPU more often from one than from the other
near 'half the work' "$(takes slow cpu=0)" "$(takes slow compress=/2 cpu=0)" "$(takes fast cpu=0)"
near 'a quicker server' "$(takes far)" "$(takes far lookup=/3 cpu=0)" "$(takes near cpu=0)"
near 'lighter tasks' "$(takes heavy)" "$(takes heavy load=/2 cpu=0)" "$(takes light cpu=0)"
near 'no pauses' "$(takes paced cpu=0)" "$(takes paced sleeping=0 cpu=0)" "$(takes eager cpu=0)"
