#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every compilation of the JVM's own list, with its tier; and the usage of the code heaps.
# takes: 15 s
source "$(dirname "$0")/../lib.sh"

version=$(java_version)
log=(-XX:+PrintCompilation)
[[ $version -lt 9 ]] || log=(-Xlog:jit+compilation=debug:compilation.log)
# The program waits for each compilation, so that none is too late.
braid record -e jit -o trace -- "$JAVA" "${log[@]}" -Xbatch -Xmx64m -cp "$CLASSES" Storm 24 >printed 2>err
[[ $version -ge 9 ]] || sed 's/^ *[0-9]\+//; s/^/]/' printed >compilation.log
# "   12 %  b  3       Storm::warm @ 2 (60 bytes)"; lines "made not entrant" and "skipped" refer to one that was listed.
sed -n '/made not entrant\|made zombie\|COMPILE SKIPPED/d
	s/.*] *\([0-9]\+\) \(.....\) \+\([0-9]\) \+\([^ :]*\)::\([^ ]*\).*/compile \1 \3 \4.\5 \2/p' compilation.log >trace.truth
# Each compiler thread may have been compiling when the JVM ended. A service thread reports new code, one piece after the
# other, and nobody waits for it then.
events trace "all" 'len(of("compile")) >= len(truth["compile"]) - 3 > 25' \
	"each once" 'len({e.number for e in of("compile")}) == len(of("compile"))' \
	"with their levels" '{e.number: e.flags & 7 for e in of("compile")}.items() <= {int(t[0]): int(t[1]) for t in truth["compile"]}.items()' \
	"on-stack replacement" 'all(bool(e.flags & 8) == ("%" in "".join(t[3:])) for e in of("compile") for t in truth["compile"]
		if int(t[0]) == e.number)' \
	"their methods" 'all(e.name == t[2] for e in of("compile") for t in truth["compile"] if int(t[0]) == e.number and e.flags & 7)' \
	"all levels" '{1, 3, 4} <= {e.flags & 7 for e in of("compile")}' \
	"the code has a size, but for the last pieces" 'any(e["value"] for e in of("compile")) and
		all(unknown <= {e.number for e in sorted(of("compile"), key=lambda e: e.time_ns + e.duration_ns)[-len(unknown) - 3:]}
			for unknown in [{e.number for e in of("compile") if not e["value"] and not e.flags & 0x10}])' \
	"a storm" 'len([e for e in of("compile") if e.name == "Storm.warm"]) >= 4' \
	"nothing lost" 'lost == []'
if [[ $version -ge 11 ]]; then
	# A compilation that the JVM's end interrupted may have its code, but no end.
	events trace "all but wrappers took time" 'sum(e.duration_ns == 0 for e in of("compile") if e.flags & 7) <= 3' \
		"on compiler threads" 'all(re.match("C[12] Compiler", e.thread.name) for e in of("compile") if e.duration_ns)' \
		"in order on each" 'at_once([e for e in of("compile") if e.thread]) == []'
else
	events trace "says that times are not known" 'any(e.duration_ns for e in of("compile")) or
		len([n for n in notices if "how long compilations took" in n]) == 1'
fi

# The compiler runs out of nodes and gives up.
if [[ $version -ge 17 ]]; then
	braid record -e jit -o failed.trace -- "$JAVA" -XX:MaxNodeLimit=1000 -XX:NodeLimitFudgeFactor=40 \
		-XX:+PrintCompilation -cp "$CLASSES" Storm 1 large >printed 2>err
	sed -n 's/^ *[0-9]\+ \+\([0-9]\+\) .*COMPILE SKIPPED.*/skipped \1/p' printed >failed.trace.truth
	[[ -s failed.trace.truth ]] || fail "nothing failed: $(cat printed)"
	events failed.trace "the same have failed" 'sorted(e.number for e in of("compile") if e.flags & 0x10) ==
		sorted(int(n) for n, in truth["skipped"])'
fi

# The code heaps of a running JVM have the sizes that it reports itself, in KiB, and are as full as between two reports.
heaps()
{
	"$JAVA_HOME/bin/jcmd" "$JAVA_PID" Compiler.codecache >heaps.log 2>&1 || true
	sed -n "s/.*Code\(Heap\|Cache\)\( '\([^']*\)'\)\?: size=\([0-9]*\)Kb used=\([0-9]*\)Kb.*/$1 Code\1\2 \4 \5/p" heaps.log
}
start_worker jvm -Xmx64m
heaps before >heaps.trace.truth
start_record -e jit -p "$JAVA_PID" -o heaps.trace
wait_attached "$JAVA_PID"
wait_events "$JAVA_PID"
stop_record
heaps after >>heaps.trace.truth
if [[ -s heaps.trace.truth ]]; then
	events heaps.trace "code heaps" '{e.name: (e.weight // 1024, True) for e in of("code_cache")} ==
			{" ".join(t[:-2]): (int(t[-2]), True) for t in truth["after"]}' \
		"how full" 'all(0.9 * int(s[-1]) - 8 <= e["value"] / 1024 <= 1.1 * int(t[-1]) + 8 for s, t in zip(truth["before"], truth["after"])
			for e in of("code_cache", name=" ".join(t[:-2]))[-1:])'
fi
end_worker jvm "$JAVA_PID"
