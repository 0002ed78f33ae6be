#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A libjvm.so without symbols, as in some distributions: the events of its USDT probes, with and without the agent.
source "$(dirname "$0")/../lib.sh"

libjvm=$(find "$JAVA_HOME/" -path '*/server/libjvm.so' -print -quit)
readelf -SW "$libjvm" | finds stapsdt || skip "this libjvm.so has no USDT probes"

# A JDK beside it that shares all other files: java looks for them relative to its own path.
cp -rs "$(readlink -f "$JAVA_HOME")" jdk
stripped=jdk/${libjvm#"$JAVA_HOME/"}
for file in "$stripped" jdk/bin/java jdk/lib/libjli.so; do
	cp --remove-destination "$(readlink -f "$file")" "$file.copy"
	mv -f "$file.copy" "$file"
done
strip --strip-all --remove-section=.gnu_debuglink "$stripped"
JAVA=$PWD/jdk/bin/java
"$JAVA" -version 2>version || skip "a copy of this JDK does not run: $(cat version)"

log=(-Xlog:safepoint:safepoint.log -Xlog:jit+compilation=debug:compilation.log)
for agent in with without; do
	option=()
	[[ $agent == with ]] || option=(--no-attach)
	rm -f ./*.log in out
	mkfifo in
	"$BUILD/braid" record "${option[@]}" -e safepoint,jit -o "$agent.trace" -- "$JAVA" "${log[@]}" -XX:+UseSerialGC -Xmx256m \
		-cp "$CLASSES" Worker <in >out 2>record.err &
	RECORD_PID=$!
	exec {IN}>in
	wait_child "$RECORD_PID" java
	# Three of safepoints, two of compilations; the kernel names their perf events alike, so they are counted.
	wait_for "the probes" perf_events 1 5
	wait_for "the start of the worker" grep -qs '^ready' out
	echo gc 7 >&"$IN"
	wait_for "the collections" grep -qs '^done' out
	echo exit >&"$IN"
	end_record
	exec {IN}>&-
	sed -n 's/.*Safepoint "\([^"]*\)".* Reaching safepoint: \([0-9]*\) ns.* Total: \([0-9]*\) ns.*/took \1 \2 \3/p' safepoint.log >"$agent.trace.truth"
	# Without an agent the JVM does not wait for the probes, so earlier operations may be missing.
	events "$agent.trace" "the same operations" '[e.name for e in of("safepoint")] == [n for n, _, _ in truth["took"]][-len(of("safepoint")):] and
			len(of("safepoint")) >= 7' \
		"as long, but for the ways there and back" 'sorted(abs(e.duration_ns - int(t[2]))
			for e, t in zip(of("safepoint")[::-1], truth["took"][::-1]))[len(of("safepoint")) // 2] < 1e6' \
		"said what is missing" 'len([n for n in notices if "does not report which threads stopped late, deoptimisations" in n]) == 1' \
		"nothing lost" 'lost == []'
done
sed -n '/made not entrant\|made zombie/d
	s/.*] *\([0-9]\+\) \(.....\) \+\([0-9]\) \+\([^ :]*\)::\([^ ]*\).*/compile \1 \3 \4.\5/p' compilation.log >without.trace.truth
events without.trace "compilations without an agent" 'of("compile") and
	{e.name for e in of("compile")} <= {t[2] for t in truth["compile"]} and all(e.duration_ns for e in of("compile"))'
# What is compiled while the JVM ends is no longer reported to the agent.
events with.trace "with one, each is joined with what it made" 'len({e.number for e in of("compile") if e.number}) ==
		len([e for e in of("compile") if e.number]) > 20 and
	all(e.duration_ns and e.thread and e["value"] for e in of("compile") if e.flags & 7 and not e.flags & 0x10)' \
	"but for the last ones" 'all(e.time_ns > max(n.time_ns - n.duration_ns for n in of("compile") if n.number)
		for e in of("compile") if not e.number)'
