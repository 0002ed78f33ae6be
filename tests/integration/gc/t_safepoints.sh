#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The safepoints of the JVM's own log, with their times, and the late threads: a thread that copies large arrays.
source "$(dirname "$0")/../lib.sh"

if [[ $(java_version) -lt 11 ]]; then
	braid record -e safepoint -o old.trace -- "$JAVA" -Xmx512m -cp "$CLASSES" Late 3 2>err
	events old.trace "reported, or a notice gives the reason" 'len(of("safepoint")) >= 3 or
		len([n for n in notices if "does not report safepoints" in n and "debug symbols" in n]) == 1' \
		"and nothing else" 'lost == []'
	exit 0
fi
# On a busy machine the VM thread, too, waits for a CPU between a thread's stop and its own next look.
for collector in G1 Serial; do
	"${UNDISTURBED[@]}" "$BUILD/braid" record -e safepoint -o trace -- "$JAVA" -Xmx512m "-XX:+Use${collector}GC" -Xlog:safepoint:safepoint.log \
		-cp "$CLASSES" Late 20 2>err
	if [[ $(java_version) -lt 13 ]]; then
		sed -n 's/.*Entering safepoint region: \(.*\)/name \1/p; s/.*were stopped: \([0-9.]*\) seconds, Stopping threads took: \([0-9.]*\) .*/took \2 \1/p' \
			safepoint.log >trace.truth
		# The last one, in which the JVM ends, has no end.
		events trace "$collector: as many" 'len(of("safepoint")) == len(truth["took"]) >= 20' \
			"their operations" '[e.name for e in of("safepoint")] == [n for n, in truth["name"]][:len(of("safepoint"))]' \
			"how long, but for what happens between two clocks" 'sorted(abs(e.duration_ns - 1e9 * float(t[1]))
				for e, t in zip(of("safepoint"), truth["took"]))[len(of("safepoint")) // 2] < 1e6' \
			"time to safepoint" 'sorted(abs(e["value"] - 1e9 * float(t[0]))
				for e, t in zip(of("safepoint"), truth["took"]))[len(of("safepoint")) // 2] < 1e6'
	else
		sed -n 's/.*Safepoint "\([^"]*\)".* Reaching safepoint: \([0-9]*\) ns.* Total: \([0-9]*\) ns.*/took \1 \2 \3/p' \
			safepoint.log >trace.truth
		events trace "$collector: the same, to the nanosecond" '[(e.name, e["value"], e.duration_ns) for e in of("safepoint")] ==
			[(name, int(reach), int(total)) for name, reach, total in truth["took"]] and len(of("safepoint")) >= 20'
	fi
	# The thread that arrived last, for each long one.
	events trace "numbered" '[e.number for e in of("safepoint")] == list(range(1, len(of("safepoint")) + 1))' \
		"by the VM thread" '{e.thread.name for e in of("safepoint")} == {"VM Thread"}' \
		"copying delays them" 'len([s for s in of("safepoint") if s["value"] > 1e6]) >= 5' \
		"the threads that it waited for arrived in that time" 'all(e["value"] <= s["value"] for s in of("safepoint")
			for e in of("safepoint_stop", number=s.number))' \
		"somebody kept all others waiting" 'len([s for s in of("safepoint") if s["value"] > 1e6 and
				max([e["value"] for e in of("safepoint_stop", number=s.number)], default=0) > s["value"] / 2]) >
			0.7 * len([s for s in of("safepoint") if s["value"] > 1e6])' \
		"the copier, in its copying" 'len([1 for s in of("safepoint") if s["value"] > 1e6
			for e in of("safepoint_stop", number=s.number)
				if e.thread.name == "copier" and "Late.copy" in e.stack and e["value"] > s["value"] / 2]) >= 5' \
		"the spinner was stopped, too" 'len({e.number for e in at("safepoint_stop", "Late.spin")}) >= 10' \
		"whole stacks" 'at_least(sum("[incomplete]" not in e.stack for e in of("safepoint_stop")), len(of("safepoint_stop")), 99)' \
		"nothing lost" 'lost == []'
done
