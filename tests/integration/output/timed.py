# SPDX-License-Identifier: Apache-2.0
"""Formats with times have the same events of all kinds, with the weights and lengths that the report and the stacks have."""
import json

import readers

events = json.load(open("v.json"))["events"]
formats = {"chrome": "v.chrome", "firefox": "v.firefox", "perfetto": "v.perfetto.txt"}
timed = {name: getattr(readers, name)(path) for name, path in formats.items()}
for name, t in timed.items():
    t.check(events)
    for kind in "alloc", "lock", "wait", "offcpu", "exception", "compile":
        weight = sum(int(line.rsplit(" ", 1)[1]) for line in open(f"{kind}.stacks"))
        assert t.weights[kind] == weight, (name, kind, t.weights[kind], weight)
    for kind in "lock", "wait", "compile", "gc_pause":
        assert t.ns[kind] == t.weights[kind], (name, kind, t.ns[kind], t.weights[kind])
    assert t.ns["lock"] > 0 and t.ns["wait"] > 0 and t.counts["exception"] > 0, name
    assert any(frame.startswith("Views.") for stack in t.stacks["lock"] for frame in stack), t.stacks["lock"]
    assert t.ns == timed["chrome"].ns and t.stacks == timed["chrome"].stacks, name

# Perfetto's tracks of CPUs: a thread ran from its return to a CPU until it left that CPU, or another one came there; and again
# from when that one left.
# Times off it that are parts of a wait for a lock have no event of their own.
runs, locked = timed["perfetto"].runs, timed["perfetto"].locked
off = sorted(o for o in timed["perfetto"].off if o[0] not in locked)
begun, left = {(cpu, tid, start) for cpu, tid, start, _ in runs if tid not in locked}, {(cpu, tid, start) for tid, start, _, cpu, *_ in off}
starts = {(cpu, start) for cpu, _, start, _ in runs}
expected = {(p[4], p[0], p[2]) for p, q in zip(off, off[1:]) if p[0] == q[0] and p[4] == q[3] and p[2] < q[1]}
back = {(cpu, tid, end) for tid, _, end, _, cpu, _ in off}
stops = {(cpu, end) for cpu, _, _, end in runs}
assert len(begun & back) > 20, (len(begun), len(begun & back))
assert all((cpu, start) in stops for cpu, _, start in begun - back), list(begun - back)[:3]
same = {(p[4], p[0], p[2]) for p, q in zip(off, off[1:]) if p[5] == q[5]}  # not before and behind an exec
assert all((cpu, start) in starts for cpu, _, start in (expected & same) - begun), "a time on a CPU is missing"
ends = {tid: max(end for _, of, _, end in runs if of == tid) for _, tid, _, _ in runs}  # a thread's last wait may not have ended
assert all((cpu, tid, end) in left or (cpu, end) in starts or end == ends[tid] for cpu, tid, _, end in runs if tid not in locked), "an end"
last = {}
for cpu, tid, start, end in sorted(runs, key=lambda r: (r[0], r[2])):
    assert last.get(cpu, 0) <= start < end, (cpu, tid, start, end)
    last[cpu] = end

# What no process has is the machine's, not an unknown process's.
chrome = json.load(open("v.chrome"))["traceEvents"]
assert [e["args"]["name"] for e in chrome if e["name"] == "process_name" and e["pid"] == 0] == ["machine"]
assert {t["processName"] for t in json.load(open("v.firefox"))["threads"] if t["pid"] == "0"} == {"machine"}
