#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What --what-if predicts of a program is what happens when the program is changed like that.
# takes: 18 s
source "$(dirname "$0")/../lib.sh"

recorded()
{
	local mode

	for mode; do
		"${UNDISTURBED[@]}" "$BUILD/braid" record --preset wall -F 499 -o "$mode.trace" -- "$JAVA" -cp "$CLASSES" WhatIf "$mode" \
			>out 2>err || fail "$(cat err)"
	done
}

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
sys.exit(not (abs(predicted - found) < 0.1 * found and found < 0.8 * was))' "$@"
}

# predicts WHAT MODE CHANGE OTHER: what the change is predicted to do to a program is what the other one does. Waits for a CPU
# are left out, as other programs cause them. They also make the CPU slower, in one recording more than in the other, so
# a wrong prediction is one that is wrong three times.
predicts()
{
	local what=$1 mode=$2 change=$3 other=$4 try

	for try in 1 2 3; do
		recorded "$mode" "$other"
		near "$what, recording $try" "$(takes "$mode" cpu=0)" "$(takes "$mode" "$change" cpu=0)" "$(takes "$other" cpu=0)" && return
	done
	fail "$what: three predictions were wrong"
}

predicts 'without the lock' locked Journal=0 free
predicts 'half the work' slow compress=/2 fast
predicts 'a quicker server' far lookup=/3 near
predicts 'lighter tasks' heavy load=/2 light
predicts 'no pauses' paced sleeping=0 eager
