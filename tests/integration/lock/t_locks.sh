#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads blocked on monitors: how long, where, and of which class, to within 2 percent of their own clock.
# class: quick
# shellcheck disable=SC2016 # names of classes have dollar signs
source "$(dirname "$0")/../lib.sh"

# Revoking a bias takes time, too, but is no contention.
options=()
[[ $(java_version) -ge 15 ]] || options=(-XX:-UseBiasedLocking)

blocked()
{
	events "$1" \
		"as long as the program says" 'all(close(total([e for e in of("lock", name=c) if e.duration_ns >= 1e6], "duration_ns"), int(ns), 2)
			for c, ns, _ in truth["blocked"])' \
		"as often" 'all(abs(len([e for e in of("lock", name=c) if e.duration_ns >= 1e6]) - int(n)) <= 1 for c, _, n in truth["blocked"])' \
		"they did" 'all(int(n) >= 5 for _, _, n in truth["blocked"])' \
		"one monitor of each class" 'len({e.number for e in of("lock", name="Monitors$Narrow")}) == 1 and
			len({e.number for e in of("lock", name="Monitors$Wide")}) == 1' \
		"nothing lost" 'lost == []'
}

"${UNDISTURBED[@]}" "$BUILD/braid" record -e lock -o a.trace -- "$JAVA" "${options[@]}" -cp "$CLASSES" Monitors 25 >a.trace.truth 2>err
blocked a.trace
events a.trace \
	"where" 'most("Monitors.enter" in e.stack and "Monitors.contend" in e.stack and e.stack[-1] != "[incomplete]"
		for e in named("lock", "Monitors\\$(Narrow|Wide)"))' \
	"who" 'all(e.thread.name.startswith("contender-") for e in named("lock", "Monitors\\$(Narrow|Wide)"))' \
	"no waits" 'of("wait") == []'

# Shorter ones are counted, with their time.
"${UNDISTURBED[@]}" "$BUILD/braid" record -e lock=10m -o short.trace -- "$JAVA" "${options[@]}" -cp "$CLASSES" Monitors 10 >short.trace.truth 2>err
events short.trace \
	"none reported" 'of("lock") == []' \
	"all counted" 'total(of("counted"), "weight") >= 0.98 * sum(int(ns) for _, ns, _ in truth["blocked"]) and
		{e.number for e in of("counted")} == {3} and total(of("counted")) >= sum(int(n) for _, _, n in truth["blocked"])' \
	"none twice" 'all(total(of("counted"), "weight") <= 1.02e6 * (int(ms) + int(n)) and total(of("counted")) <= int(n)
		for ms, n in truth["everywhere"])' \
	"nothing lost" 'lost == []'

# Virtual threads may continue on another OS thread.
[[ $(java_version) -ge 21 ]] || exit 0
"${UNDISTURBED[@]}" "$BUILD/braid" record -e lock -o virtual.trace -- "$JAVA" "${options[@]}" -cp "$CLASSES" Monitors 25 virtual >virtual.trace.truth 2>err
blocked virtual.trace
events virtual.trace \
	"where" 'most("Monitors.enter" in e.stack for e in named("lock", "Monitors\\$(Narrow|Wide)"))'
