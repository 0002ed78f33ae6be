#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What --what-if predicts of a thread and of its program is what happens when the program is changed like that.
# class: long
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

# The times of "coordinator" and of the program in a trace, with changes.
takes()
{
	local trace=$1 change options=()

	shift
	for change; do options+=(--what-if "$change"); done
	braid explain --thread coordinator --json "${options[@]}" "$trace.trace" |
		python3 -c 'import json, sys; e = json.load(sys.stdin); print(e["predicted_s"], e["program"]["predicted_s"])'
}

near()
{
	python3 - "$@" <<'END'
import sys
was, predicted, found = (list(map(float, times.split())) for times in sys.argv[2:])
for i, who in enumerate(("coordinator", "the program")):
    print(f"{sys.argv[1]}, {who}: {was[i]:.3f} s, predicted {predicted[i]:.3f} s, in fact {found[i]:.3f} s")
sys.exit(not (all(abs(p - f) < 0.1 * f for p, f in zip(predicted, found)) and found[0] < 0.8 * was[0] and found[1] < was[1]))
END
}

# predicts WHAT MODE CHANGE OTHER: what the change is predicted to do to a program is what the other one does. Waits for a CPU
# are left out, as other programs cause them, and so is the start of the JVM. They also make the CPU slower, in
# one recording more than in the other, so a wrong prediction is one that is wrong three times.
predicts()
{
	local what=$1 mode=$2 change=$3 other=$4 try others=(cpu=0 JNI_CreateJavaVM=0)

	for try in 1 2 3; do
		recorded "$mode" "$other"
		near "$what, recording $try" "$(takes "$mode" "${others[@]}")" "$(takes "$mode" "$change" "${others[@]}")" \
			"$(takes "$other" "${others[@]}")" && return
	done
	fail "$what: three predictions were wrong"
}

predicts 'without the lock' locked Journal=0 free
predicts 'half the work' slow compress=/2 fast
predicts 'a quicker server' far lookup=/3 near
predicts 'lighter tasks' heavy load=/2 light
predicts 'no pauses' paced sleeping=0 eager
