#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Object.wait, to within 2 percent of the program's own clock, with the object's class and whether the wait timed out.
# shellcheck disable=SC2016 # names of classes have dollar signs
source "$(dirname "$0")/../lib.sh"

waited()
{
	events "$1" \
		"as long as the program says" 'all(close(total(of("wait", name=c), "duration_ns"), int(ns), 2) for c, ns, _, _, _ in truth["waited"])' \
		"as often" 'all(len(of("wait", name=c)) == int(n) for c, _, n, _, _ in truth["waited"])' \
		"timed out as often" 'all(int(t) <= len(of("wait", name=c, flags=1)) <= int(t) + int(late) for c, _, _, t, late in truth["waited"])' \
		"both" 'all(0 < int(t) < int(n) for _, _, n, t, _ in truth["waited"])' \
		"the timeout" 'all(e["value"] == 30 for e in of("wait", name="Monitors$Bell"))' \
		"no locks" 'of("lock") == []' \
		"nothing lost" 'lost == []'
}

"${UNDISTURBED[@]}" "$BUILD/braid" record -e wait -o a.trace -- "$JAVA" -cp "$CLASSES" Monitors 25 >a.trace.truth 2>err
waited a.trace
events a.trace \
	"where" 'most("Monitors.await" in e.stack and e.stack[-1] != "[incomplete]" for e in of("wait", name="Monitors$Bell"))' \
	"who" 'all(e.thread.name == "waiter" for e in of("wait", name="Monitors$Bell"))'

[[ $(java_version) -ge 21 ]] || exit 0
"${UNDISTURBED[@]}" "$BUILD/braid" record -e wait -o virtual.trace -- "$JAVA" -cp "$CLASSES" Monitors 25 virtual >virtual.trace.truth 2>err
waited virtual.trace
events virtual.trace \
	"where" 'most("Monitors.await" in e.stack for e in of("wait", name="Monitors$Bell"))'
