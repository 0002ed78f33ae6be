#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that braid and the JDK's Flight Recorder record at the same time: the two recordings compare as what they are,
# recordings of the same, and they merge.
# class: long
# takes: 8 s
source "$(dirname "$0")/../lib.sh"

[[ $(java_version) -ge 11 ]] || skip "this JDK has no Flight Recorder of its own"
# Both events of allocations, which a recording since JDK 17 can have: each represents all of them.
buffers=
[[ $(java_version) -lt 17 ]] || buffers=,jdk.ObjectAllocationInNewTLAB#enabled=true,jdk.ObjectAllocationOutsideTLAB#enabled=true
braid record -q -F 499 -e cpu,alloc=64k,lock=1us,gc -o braid.trace -- "$JAVA" -Xmx64m \
	"-XX:StartFlightRecording=filename=flight.jfr,settings=profile$buffers" -cp "$CLASSES" Flight >out 2>&1 || fail "$(cat out)"
braid import -o flight.trace flight.jfr >out 2>err || fail "$(cat err)"

# Allocations: both estimate the same bytes, of the same classes, and by the same stacks of Java.
for rows in '' '--by stack'; do
	# shellcheck disable=SC2086 # words
	braid diff --json --all $rows --event alloc flight.trace braid.trace >diff.json 2>err || fail "$(cat err)"
	python3 - "$rows" <<'END' || fail "alloc $rows: $(head -c 3000 diff.json)"
import json, sys

d = json.load(open("diff.json"))
before, after = d["before"]["total"], d["after"]["total"]
# 200,000 arrays of 1,016 bytes, and what else the JVM allocates. Braid samples one in 64 KiB of them, the JDK as it likes.
assert 150e6 < before < 380e6 and 150e6 < after < 380e6, (before, after)
first = max(d["rows"], key=lambda r: r["before"])
name = first.get("class", first.get("stack"))
assert (name == "byte[]" if not sys.argv[1] else name.endswith("Flight.main;byte[]")), first
assert first["before"] > 0.5 and first["after"] > 0.5, first
assert d["only_java_frames"] and all(r["kind"] in ("java", "class") for r in d["rows"]), {r["kind"] for r in d["rows"]}
END
done

# Samples: those of threads in Java code, by shares only.
braid diff --json --all flight.trace braid.trace >diff.json 2>err || fail "$(cat err)"
python3 - <<'END' || fail "$(head -c 3000 diff.json)"
import json

d = json.load(open("diff.json"))
assert d["only_in_java"] and d["what"] == "in Java code" and d["unit"] == "share", d
first = max(d["rows"], key=lambda r: r["after"])
assert first["method"] == "Flight.compute" and first["before"] > 0.5 and first["after"] > 0.5, first
assert all(r["kind"] == "java" for r in d["rows"]), d["rows"]
END
braid diff flight.trace braid.trace >text
grep -q '^  only samples of threads in Java code' text || fail "$(cat text)"
status=0
braid diff --amounts flight.trace braid.trace >text 2>err || status=$?
[[ $status -eq 1 ]] || fail "amounts of different samples: $status"
one_line_error text err

# Waits: from the time on from which both have them.
braid diff --json --all --include 'Flight\.' --event lock flight.trace braid.trace >diff.json 2>err || fail "$(cat err)"
python3 - <<'END' || fail "$(cat diff.json)"
import json

d = json.load(open("diff.json"))
assert d["min_ns"] == 10000000, d
# the monitor and the lock, each held for 50 ms at least while the other thread waits
assert d["before"]["total"] >= 100e6 and d["after"]["total"] >= 100e6, d
rows = {r["class"]: r for r in d["rows"] if r["before"] > 0 and r["after"] > 0}
assert any(c == "java.lang.Object" for c in rows) and any("ReentrantLock" in c for c in rows), d["rows"]
END

# What only one of them has is said.
braid record -q -F 499 -o cpu.trace -- true
status=0
braid diff --event alloc cpu.trace braid.trace >text 2>err || status=$?
[[ $status -eq 1 ]] || fail "allocations of one recording only: $status"
grep -q "only braid.trace has events of the kind 'alloc': they were not recorded in cpu.trace" err || fail "$(cat err)"
one_line_error text err

# One trace of both: braid's samples stay what they are, those of the JDK are events, and allocations add up.
braid merge -o both.trace flight.trace braid.trace >out 2>err || fail "$(cat err)"
braid verify both.trace >out || fail "$(cat out)"
for t in flight braid both; do
	braid query --format tsv $t.trace "select kind, count(*), sum(weight) from events where kind in ('alloc', 'lock') group by kind order by kind" >$t.sums
	braid info --json $t.trace >$t.json
done
python3 - <<'END' || fail "$(cat ./*.sums)"
import csv, json

def sums(name):
    return {r[0]: (int(r[1]), int(r[2])) for r in list(csv.reader(open(name), delimiter="\t"))[1:]}

one, other, both = (sums(f"{n}.sums") for n in ("flight", "braid", "both"))
for kind in ("alloc", "lock"):
    assert both[kind] == tuple(map(sum, zip(one[kind], other[kind]))), kind
counts = {n: json.load(open(f"{n}.json"))["samples"]["total"] for n in ("flight", "braid", "both")}
assert counts["both"] == counts["braid"], counts
END
braid report --full both.trace | finds 'jdk.ExecutionSample' || fail "the JDK's samples are not in the trace of both"
