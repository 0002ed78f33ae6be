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
