# SPDX-License-Identifier: Apache-2.0
"""cpu_load.py TICKS PID: the loads that SQL has are those of /proc, and JFR's CPULoad has the same shares."""
import json
import sys

TICK_NS = 1000000000 // int(sys.argv[1])
rows = json.load(open("loads.json"))
machine = [r for r in rows if r["process_id"] is None]
jvm = [r for r in rows if r["process_id"] is not None]


def cpu_ns(row):
    return row["user_ns"] + row["system_ns"]


def read(path):
    return [int(n) * TICK_NS for n in open(path).read().split()]


assert machine and len({r["process_id"] for r in jvm}) == 1, rows
for before, after in zip(machine, machine[1:]):
    assert before["time_ns"] + before["duration_ns"] == after["time_ns"], "a gap"
for row in machine:
    # Each CPU is in one state at a time. The kernel's idle time can go back by a tick.
    assert 0 <= cpu_ns(row) <= row["capacity_ns"] + TICK_NS and row["capacity_ns"] > 0, row
of = {r["time_ns"]: r for r in machine}
for row in jvm:
    own = of[row["time_ns"]]
    assert (row["duration_ns"], row["capacity_ns"]) == (own["duration_ns"], own["capacity_ns"]), (row, own)

before, after, last = read("before"), read("after"), read("last")
for i, key in enumerate(("user_ns", "system_ns")):
    found = sum(r[key] for r in jvm[1:])
    assert after[i] - before[i] <= found + TICK_NS, (key, before, after, found)
    assert sum(r[key] for r in jvm) <= last[i], (key, last, jvm)
assert sum(map(cpu_ns, jvm)) > 0

# JFR
printed = [e["values"] for e in json.load(open("printed.json"))["recording"]["events"]]
assert len(printed) == len(jvm), (len(printed), len(jvm))
for e, row in zip(printed, jvm):
    own = of[row["time_ns"]]
    shares = row["user_ns"] / own["capacity_ns"], row["system_ns"] / own["capacity_ns"], cpu_ns(own) / own["capacity_ns"]
    for found, share in zip((e["jvmUser"], e["jvmSystem"], e["machineTotal"]), shares):
        assert abs(found - min(share, 1)) < 1e-6, (e, row, own)
    assert e["process"] == int(sys.argv[2]), e
counts = {f[0]: int(f[1]) for f in map(str.split, open("l.summary")) if len(f) == 3 and f[1].isdigit()}
assert counts["jdk.CPULoad"] == len(jvm) and counts["braid.CpuLoad"] == len(machine), counts
