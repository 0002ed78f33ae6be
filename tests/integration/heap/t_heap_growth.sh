#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# -e heap takes histograms while a recording runs; reports show the last one and what has grown since the first one.
# shellcheck disable=SC2016 # names of classes have dollar signs
source "$(dirname "$0")/../lib.sh"

# The recorder writes what it has every second.
taken()
{
	[[ $(braid script --event heap "$1" 2>/dev/null | wc -l) -ge $2 ]]
}

finds_estimate()
{
	braid script --event heap_estimate none.trace 2>/dev/null | finds .
}

KNOWN='(lambda n: [e.weight for e in sorted(of("heap_class", name="HeapObjects$Known"), key=lambda e: e.time_ns) if e.number == n])'

start_program out "$JAVA" -Xmx256m -Xms256m -XX:+UseSerialGC -cp "$CLASSES" HeapObjects "$CLASSES"
start_record -e heap=1s --max-pause 60s -p "$JAVA_PID" -o out.trace
wait_for "the first histogram" taken out.trace 1
go_on
wait_says out "more 1"
wait_for "three of them" taken out.trace 3
# Another recorder has its own numbers.
braid heap "$JAVA_PID" --max-pause 60s -n 1 >text 2>err || fail "beside a recording: $(cat err)"
go_on
wait_says out "more 2"
stop_record
events out.trace \
	"the first one" "$KNOWN(1) == [12345]" \
	"the last one, at the end" "$KNOWN(max(e.number for e in of('heap'))) == [22345]" \
	"they stopped the JVM" 'all(e.duration_ns > 0 and e.value > 12345 * 24 and e.weight > 12345 and e.flags == 0 for e in of("heap"))' \
	"a second apart" 'all(b.time_ns - a.time_ns > 5e8 for a, b in zip(of("heap"), of("heap")[1:-1]))' \
	"each was announced, the first one by what is known before" '[(e.number, e.flags) for e in of("heap_estimate")] == [(e.number, 64 if e.number == 1 else 0) for e in of("heap")]' \
	"nothing lost" 'lost == []'
braid report --json --top 100000 out.trace >out.json
python3 - <<'PYTHON' || fail "the report: $(head -c 3000 out.json)"
import json
heap = json.load(open("out.json"))["heaps"][0]
known = [r for r in heap["grown"] if r["class"] == "HeapObjects$Known"][0]
assert known["objects"] - known["first_objects"] == 10000, known
assert known in heap["classes"] and len(heap["histograms"]) >= 4
assert not [r for r in heap["grown"] if r["class"] == "HeapObjects$Garbage"]
PYTHON
braid report --full out.trace >text
grep -q '^  What has grown most$' text || fail "no growth: $(grep -A20 '^Heap' text)"
grep -q ' +10000  HeapObjects\$Known (app)$' text || fail "other growth: $(grep -A20 '^Heap' text)"

# Enabled while a recording runs: at once, and when asked for. What would take too long is left out.
start_record -e gc --max-pause 60s -p "$JAVA_PID" -o later.trace
wait_joined "$JAVA_PID"
braid ctl "$JAVA_PID" enable heap=1h >text 2>err || fail "enable: $(cat err)"
grep -q 'heap=3600s' text || fail "enable: $(cat text)"
wait_for "the first histogram" taken later.trace 1
braid ctl "$JAVA_PID" dump
wait_for "another one" taken later.trace 2
stop_record
start_record -q -e heap --max-pause 1ns -p "$JAVA_PID" -o none.trace
wait_for "the word about it" finds_estimate
stop_record
events none.trace "it says so" 'of("heap") == [] and len(of("heap_estimate")) >= 1 and all(e.flags == 8 for e in of("heap_estimate"))'
braid report --full none.trace | finds 'not taken: it was expected to take longer than --max-pause allows$' || fail "the report does not say so"
end_program
