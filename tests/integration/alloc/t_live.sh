#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Live objects at the end are the sampled ones that the program kept and a collection found. Those that no collection
# has seen are shown separately.
# class: long
# takes: 20 s
# shellcheck disable=SC2016 # names of classes have dollar signs
source "$(dirname "$0")/../lib.sh"

[[ $(java_version) -ge 11 ]] || skip "sampled allocations came with JDK 11"

live()
{
	events "$1" \
		"what was kept lives" 'close(total(of("live", name="int[]"), "weight"), one("site", "Allocator.atKept", "int[]"), 5, error(of("live", name="int[]")))' \
		"and nothing else of the program" 'named("live", "long\\[\\]|Allocator\\$Node") == []' \
		"each is an allocation of before" '(lambda allocs: all([(a.name, a["value"], a.time_ns) for a in allocs.get(e.number, [])] ==
			[(e.name, e["value"], e.time_ns)] for e in of("live")))(index("alloc", "number"))' \
		"once" 'len({e.number for e in of("live")}) == len(of("live"))' \
		"as old as it is" 'all(e.duration_ns > 0 for e in of("live"))' \
		"through collections" 'all(e.flags >= 1 for e in of("live")) and all(e.flags == 0 for e in of("uncollected"))' \
		"nothing lost" 'lost == []'
}

# The program ends.
braid record -e alloc=64k,live=65536 -o end.trace -- "$JAVA" -Xmx512m -cp "$CLASSES" Allocator 300 4000 >end.trace.truth 2>err
live end.trace
# Each sampled object is there at the end, or died; nothing of the program that was kept did, and what it dropped did.
events end.trace \
	"each has one end" '(lambda numbers: sorted(numbers) == sorted({e.number for e in of("alloc")}))([e.number for e in of("live") + of("uncollected") + of("died")])' \
	"what was dropped died" 'close(total(of("died", name="Allocator$Node") + of("uncollected", name="Allocator$Node"), "weight"), total(of("alloc", name="Allocator$Node"), "weight"), 1) and of("died", name="Allocator$Node")' \
	"what was kept did not" '[e for e in of("died", name="int[]") if "Allocator.atKept" in e.stack] == []' \
	"of that time" '(lambda allocs: all(e.time_ns == allocs[e.number][0].time_ns and e.duration_ns > 0 for e in of("died")))(index("alloc", "number"))'
events end.trace "each stands for what its allocation did" '(lambda allocs: all(e.weight == allocs[e.number][0].weight for e in of("live")))(index("alloc", "number"))'

# Sites: what is live of what each stack has allocated, in bytes and in objects.
braid report --json --top 100000 end.trace >end.json
python3 - <<'PYTHON' || fail "sites: $(braid report --full end.trace | grep -A12 '^Sites')"
import json
sites = [s for s in json.load(open("end.json"))["sites"] if any(f["name"].startswith("Allocator.") for f in s["frames"])]
kept = [s for s in sites if s["class"] == "int[]" and "Allocator.atKept" in s["site"]]
assert sites[0] in kept and sum(s["live_bytes"] for s in kept) > 0.99 * sum(s["live_bytes"] for s in sites), sites[:3]
assert all(0 < s["live_objects"] <= s["allocated_objects"] * 1.000001 and s["live_bytes"] <= s["allocated_bytes"] for s in kept), kept
assert all(abs(s["live_objects"] * 16400 - s["live_bytes"]) < 1 for s in kept), kept
died = [s for s in sites if s["died_objects"]]
assert died and all(s["died_bytes"] + s["live_bytes"] <= s["allocated_bytes"] and 0 < s["age_p50_s"] <= s["age_p90_s"] <= s["age_max_s"] and
	0 <= s["died_survived"] <= s["died_objects"] for s in died), died[:3]
assert all(s["died_objects"] == 0 and s["age_p50_s"] is None for s in kept), kept
assert any(s["allocated_bytes"] > 0 == s["live_bytes"] == s["live_objects"] for s in sites), "no site of garbage"
PYTHON
braid report --full end.trace >end.txt
grep -q '^Sites: ' end.txt || fail "the report has no sites"
grep -q '^How long objects lived ' end.txt || fail "the report does not say how old objects got"

# The recording ends; there is room for a few objects, whose weights cover all.
start_program stop.trace.truth "$JAVA" -Xmx512m -cp "$CLASSES" Allocator 300 4000 wait
start_record -e alloc=64k,live=300 -p "$JAVA_PID" -o stop.trace
wait_attached "$JAVA_PID"
wait_events "$JAVA_PID"
go_on
wait_says stop.trace.truth end
stop_record
events stop.trace "it was full" 'len(of("live")) <= 300 and max(e.weight for e in of("live")) > max(e.weight for e in of("alloc"))'
live stop.trace
end_program

# uncollected NAME JAVA-OPTION... -- [gc]: garbage in a heap that has room for it, small objects and large arrays.
uncollected()
{
	local trace=$1.trace
	local -a options=()

	shift
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift
	braid record -e alloc=256k,live=65536 -o "$trace" -- "$JAVA" -Xms700m -Xmx700m "${options[@]}" -cp "$CLASSES" Uncollected 100 1024 "$@" \
		>"$trace.truth" 2>err
	events "$trace" "nothing lost" 'lost == []' "once" 'len({e.number for e in of("live") + of("uncollected")}) == len(of("live") + of("uncollected"))'
}

# One KiB is in use, 200 MiB are garbage, and no collection has run.
uncollected none -XX:+UseSerialGC -Xmn500m --
events none.trace \
	"there are no live objects" 'of("live") == []' \
	"what is there is shown" 'all(close(total(of("uncollected", name=c), "weight"), int(truth["garbage"][0][i]), 15, error(of("uncollected", name=c)))
		for i, c in enumerate(["byte[]", "char[]"]))'
braid report --full none.trace >none.txt
braid report --json none.trace >none.json
braid report --html none.html none.trace
braid script --event uncollected none.trace | finds 'braid:uncollected: class="byte\[\]" ' || fail "the script has no objects that were not collected"
braid export --format collapsed --event uncollected none.trace | finds 'Uncollected.main;.*byte\[\] ' || fail "no stacks of what was not collected"
[[ $(braid export --format collapsed --event live none.trace 2>/dev/null | wc -l) -eq 0 ]] || fail "there are stacks of live objects, but no live objects"
grep -q '^  uncollected .* MiB  +- ' none.txt || fail "the report does not show it apart: $(grep -A9 '^JVM events' none.txt)"
! grep -q '^Live objects' none.txt || fail "the report has live objects"
grep -q '"name":"Not collected yet"' none.html || fail "the page has no graph of it"
python3 -c 'import json; e = json.load(open("none.json"))["events"]; assert "live" not in e and e["uncollected"]["error"] < 0.1, e'

# The program collects. ZGC, where the JDK has it, does not count collections, but its memory use shows them.
GC=Parallel
! "$JAVA" -XX:+UseZGC -Xms700m -version >/dev/null 2>&1 || GC=Z
uncollected gc "-XX:+Use${GC}GC" -- gc
events gc.trace "garbage is gone" 'total(of("uncollected") + of("live")) < int(truth["garbage"][0][0]) / 10'
