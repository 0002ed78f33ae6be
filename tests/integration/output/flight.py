# SPDX-License-Identifier: Apache-2.0
"""Checks that flight.trace has what the JDK's `jfr` finds in flight.jfr: counts, sums and stacks."""
import collections
import json
import re

report = json.load(open("flight.json"))
events = report["events"]
printed = collections.defaultdict(list)
for e in json.load(open("printed.json"))["recording"]["events"]:
    printed[e["type"].removeprefix("jdk.")].append(e["values"])


def ns(duration):
    whole = re.fullmatch(r"PT(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?", duration)
    return (int(whole[1] or 0) * 60 + int(whole[2] or 0)) * 1000000000 + int((whole[3] or "").ljust(9, "0"))


def total_ns(rows):
    return sum(ns(e["duration"]) for e in rows)


def equal(what, a, b, by=0):
    assert abs(a - b) <= by, (what, a, b)


def kind(name):
    return events.get(name, {"count": 0, "weight_s": 0, "weight_bytes": 0})


def same_times(name, rows):
    """Counts, and sums of times, which are rounded from ticks to ns by each reader."""
    equal(name, kind(name)["count"], len(rows))
    equal(name, round(kind(name)["weight_s"] * 1e9), total_ns(rows), len(rows) + 1)


LOCKS = ("ReentrantLock$", "ReentrantReadWriteLock$", "StampedLock")
parks = collections.defaultdict(list)
for e in printed["ThreadPark"]:
    name = (e["parkedClass"] or {"name": ""})["name"]
    parks[any(name.startswith("java/util/concurrent/locks/" + lock) for lock in LOCKS)].append(e)
same_times("lock", printed["JavaMonitorEnter"] + parks[True])
same_times("offcpu", printed["ThreadSleep"] + parks[False])
same_times("gc_pause", printed["GCPhasePause"])
assert printed["JavaMonitorEnter"] and printed["GCPhasePause"] and printed["ExecutionSample"], "the program did not do its work"

equal("samples", report["samples"]["total"], len(printed["ExecutionSample"]))
allocated = [e["weight"] for e in printed["ObjectAllocationSample"]]
allocated += [e["tlabSize"] for e in printed["ObjectAllocationInNewTLAB"]]
allocated += [e["allocationSize"] for e in printed["ObjectAllocationOutsideTLAB"]]
equal("allocations", kind("alloc")["count"], len(allocated))
equal("allocated", kind("alloc")["weight_bytes"], sum(allocated))

equal("native allocations", kind("malloc")["count"], 10)
equal("natively allocated", kind("malloc")["weight_bytes"], 55000)

# Stacks, by the names of their methods; those that the JDK cut begin with a frame that says so.
stacks = collections.Counter()
for e in printed["ExecutionSample"]:
    trace = e["stackTrace"]
    names = [f["method"]["type"]["name"].replace("/", ".") + "." + f["method"]["name"] for f in trace["frames"]][::-1]
    stacks[";".join((["[incomplete: depth]"] if trace["truncated"] else []) + names)] += 1
lines = {}
for line in open("flight.stacks"):
    stack, weight = line.rsplit(" ", 1)
    lines[re.sub(r"\$\$Lambda[^;.]*(/0x)?[^;.]*", "$$Lambda", stack)] = int(weight)
plain = collections.Counter()
for stack, weight in stacks.items():
    plain[re.sub(r"\$\$Lambda[^;]*\.(\w+)", r"$$Lambda.\1", stack)] += weight
assert lines == plain, (lines, plain)
