#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What leaks slowly is told apart from garbage of the same class by the collections that happen anyway: the live bytes of
# its site are within 5 % of what is reachable, and the site of the garbage has none. Each object is sampled.
source "$(dirname "$0")/../lib.sh"

[[ $(java_version) -ge 11 ]] || skip "sampled allocations came with JDK 11"

# About a collection for each MiB, of which there are 60: the last one has seen all but a sixtieth.
braid record -e alloc=64,live=65536 -o leak.trace -- "$JAVA" -XX:+UseSerialGC -Xmx64m -Xmn2m -cp "$CLASSES" Leaking >out 2>err
braid report --json --top 100000 leak.trace >leak.json
braid export --format hprof -o leak.hprof.txt leak.trace
python3 - "$(sed -n 's/^leaked //p' out)" <<'PYTHON' || fail "sites: $(braid report --full leak.trace | grep -A12 '^Sites')"
import json, re, readers, sys
reachable = int(sys.argv[1])
sites = json.load(open("leak.json"))["sites"]
def live(method):
    return sum(s["live_bytes"] for s in sites if s["class"] == "byte[]" and any(f["name"] == method for f in s["frames"]))
assert abs(live("Leaking.leak") / reachable - 1) < 0.05, (live("Leaking.leak"), reachable)
assert live("Leaking.garbage") < reachable / 20, live("Leaking.garbage")
allocated = sum(s["allocated_bytes"] for s in sites if any(f["name"] == "Leaking.garbage" for f in s["frames"]))
assert abs(allocated / (150 * reachable) - 1) < 0.05, allocated
def key(site):
    return site["class"], site["live"], site["allocated"]
hprof = readers.hprof("leak.hprof.txt")["sites"]
assert sorted(map(key, hprof)) == sorted((s["class"], s["live_bytes"], s["allocated_bytes"]) for s in sites), hprof[:3]
leaked = next(s for s in hprof if s["trace"][0][0] == "Leaking.leak")
assert re.fullmatch(r"Leaking\.java:\d+", leaked["trace"][0][1]), leaked
PYTHON
