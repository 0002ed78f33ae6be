# SPDX-License-Identifier: Apache-2.0
"""Checks that v.jfr has what the trace has: the same counts and sums, by a reader of its own and by the JDK's `jfr`."""
import collections
import glob
import json
import re

import jfr
import readers

events = json.load(open("v.json"))["events"]
found = collections.defaultdict(list)
for chunk in jfr.chunks("v.jfr"):
    assert (chunk.major, chunk.minor, chunk.ticks_per_second) == (2, 0, 1000000000)
    for name, values in chunk.events:
        found[name].append(chunk.resolve(values))


def weight(kind):
    return readers.weight(events[kind])


def total(field, *lists):
    return sum(e[field] for one in lists for e in one)


def equal(what, a, b):
    assert a == b, (what, a, b)


# Locks are those whose class is known; the others are times off the CPU that nothing else covers.
enters, parks = found["jdk.JavaMonitorEnter"], found["jdk.ThreadPark"]
locks = [e for e in enters if e["monitorClass"]] + [e for e in parks if e["parkedClass"]]
sleeps = [e for e in enters if not e["monitorClass"]] + [e for e in parks if not e["parkedClass"]] + found["jdk.ThreadSleep"]
thrown = found["jdk.JavaExceptionThrow"] + found["jdk.JavaErrorThrow"]
pauses = found["jdk.GCPhasePause"] + found["braid.GcPause"]
equal("allocated", total("weight", found["jdk.ObjectAllocationSample"]), weight("alloc"))
equal("allocations", len(found["jdk.ObjectAllocationSample"]), events["alloc"]["count"])
equal("locks", (len(locks), total("duration", locks)), (events["lock"]["count"], weight("lock")))
equal("waits", total("duration", found["jdk.JavaMonitorWait"]), weight("wait"))
equal("off the CPU", total("duration", sleeps) + total("total", found["braid.OffCPU"]), weight("offcpu"))
equal("exceptions", total("count", thrown), weight("exception"))
equal("pauses", (len(pauses), total("duration", pauses)), (events["gc_pause"]["count"], weight("gc_pause")))
equal("compilations", total("duration", found["jdk.Compilation"]), weight("compile"))
equal("classes", len(found["jdk.ClassLoad"]), events["class_load"]["count"])
owners = [e["previousOwner"] for e in enters if e["monitorClass"] and e["monitorClass"]["name"] == "Views$Door"]
# A thread that gets the monitor without being woken has no owner in the trace.
assert {owner["javaName"] for owner in owners if owner} == {"holds-door"}, ("who blocked whom", owners)

samples = collections.Counter()
for e in found["jdk.ExecutionSample"] + found["jdk.NativeMethodSample"]:
    samples[e["sampledThread"]["osName"], e["sampledThread"]["osThreadId"]] += e["samples"]
threads = collections.Counter()
for line in open("threads.stacks"):
    name, tid = re.match(r"\[(.*) tid=(\d+)\]", line).groups()
    threads[name, int(tid)] += int(line.rsplit(" ", 1)[1])
equal("samples", samples, threads)

# What the JDK finds
for summary in glob.glob("summary.*"):
    counts = {}
    for line in open(summary):
        row = re.fullmatch(r" (\S+) +(\d+) +\d+ *", line.rstrip("\n"))
        if row and row[1].lower() not in ("jdk.metadata", "jdk.checkpoint"):
            counts[row[1]] = int(row[2])
    equal(summary, {k: n for k, n in counts.items() if n}, {k: len(v) for k, v in found.items() if v})
printed = collections.defaultdict(list)
for e in json.load(open("printed.json"))["recording"]["events"]:
    printed[e["type"]].append(e["values"])


def ns(duration):
    whole = re.fullmatch(r"PT(?:(\d+)M)?(?:(\d+)(?:\.(\d+))?S)?", duration)
    return (int(whole[1] or 0) * 60 + int(whole[2] or 0)) * 1000000000 + int((whole[3] or "").ljust(9, "0"))


for name in ("jdk.JavaMonitorEnter", "jdk.GCPhasePause"):
    equal(name, sum(ns(e["duration"]) for e in printed[name]), total("duration", found[name]))
equal("printed weights", total("weight", printed["jdk.ObjectAllocationSample"]), weight("alloc"))
equal("printed samples", collections.Counter(e["sampledThread"]["osName"] for e in printed["jdk.ExecutionSample"]),
      collections.Counter(e["sampledThread"]["osName"] for e in found["jdk.ExecutionSample"]))
assert all(e["stackTrace"]["frames"] for e in printed["jdk.ExecutionSample"]), "no frames"
