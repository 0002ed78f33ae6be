# SPDX-License-Identifier: Apache-2.0
"""What other tools' readers find in the formats, compared with the collapsed stacks: the weight of each method itself,
and of all of them."""
import json
import re
import sqlite3
import sys
from collections import Counter

import jfr
import readers

info = json.load(open("info.json"))
events = json.load(open("report.json"))["events"]

collapsed = Counter()
stacks = Counter()
for line in open("collapsed"):
    stack, weight = line.rstrip("\n").rsplit(" ", 1)
    stacks[stack] += int(weight)
    collapsed[stack.rsplit(";", 1)[-1]] += int(weight)
total = sum(collapsed.values())
assert total == info["samples"]["total"] > 0, (total, info["samples"])


def equal(name, found):
    """';' separates frames of collapsed stacks, so names have ':' there."""
    plain = Counter()
    for frame, weight in found.items():
        plain[frame.replace(";", ":")] += weight
    if plain != collapsed:
        sys.exit(f"{name}: more {list((plain - collapsed).items())[:5]}, less {list((collapsed - plain).items())[:5]}")


def equal_stacks(name, samples):
    """`samples`: the weight of each, and its frames from the leaf."""
    found, whole = Counter(), Counter()
    for weight, frames in samples:
        found[frames[0]] += weight
        whole[";".join(f.replace(";", ":") for f in reversed(frames))] += weight
    equal(name, found)
    assert whole == stacks, f"{name}: whole stacks {(whole - stacks).most_common(3)} {(stacks - whole).most_common(3)}"


# go tool pprof -top: flat flat% sum% cum cum% name
found = Counter()
for line in open("pprof.top"):
    m = re.match(r"\s*(\d+)\s+[\d.]+%\s+[\d.]+%\s+\d+\s+[\d.]+%\s+(.*?)( \(inline\))?$", line)
    if m and int(m[1]):
        found[m[2]] += int(m[1])
assert f"Total samples = {total} " in open("pprof.top").read(), open("pprof.top").read()[:500]
equal("pprof", found)
assert re.search(r"Type: cpu\n", open("pprof.cpu").read())

# protoc --decode
messages = list(readers.text_format("otlp.txt"))
(dictionary,) = [m for m in messages if "string_table" in m]
profiles = [p for m in messages for scope in m.get("scope_profiles", []) for p in scope["profiles"]]
found = Counter()
for sample in (s for p in profiles for s in p.get("samples", [])):
    leaf = dictionary["stack_table"][sample["stack_index"][0]]["location_indices"][0]
    (line,) = dictionary["location_table"][leaf]["lines"]
    function = dictionary["function_table"][line["function_index"][0]]
    (value,) = sample["values"]
    found[dictionary["string_table"][function["name_strindex"][0]]] += value
equal("otlp", found)
period = {p["period"][0] for p in profiles}
assert len(period) == 1 and 900000 < period.pop() < 1100000, "997 Hz"

# speedscope: weights in nanoseconds
data = json.load(open("speedscope"))
names = [f["name"] for f in data["shared"]["frames"]]
samples = []
for profile in data["profiles"]:
    assert profile["type"] == "sampled" and len(profile["samples"]) == len(profile["weights"]), profile["name"]
    assert profile["endValue"] == sum(profile["weights"]), profile["name"]
    for stack, weight in zip(profile["samples"], profile["weights"]):
        assert weight % (1000000000 // 997) == 0, weight
        samples.append((weight // (1000000000 // 997), [names[i] for i in reversed(stack)]))
equal_stacks("speedscope", samples)
assert data["profiles"][data["activeProfileIndex"]]["endValue"] == max(p["endValue"] for p in data["profiles"])

# HPROF's text: from the leaf
equal_stacks("hprof", [(weight, frames) for weight, _, frames in readers.hprof("hprof")["samples"]])

# Formats with times: the same samples, at the same times, and of each kind of event the same number and weight
h = readers.heatmap("heatmap")
assert h["total"] == total, h["total"]
times = {}
for name, path in ("chrome", "chrome"), ("firefox", "firefox"), ("perfetto", "perfetto.txt"):
    timed = getattr(readers, name)(path)
    equal_stacks(name, [(weight, frames) for _, _, weight, _, frames in timed.samples])
    assert events["gc_pause"]["count"] >= 2, events
    timed.check(events)
    pauses = timed.ns["gc_pause"], timed.weights["gc_pause"]
    assert pauses[0] == pauses[1] > 0, (name, pauses)
    times[name] = sorted(s[1] for s in timed.samples)
first = times["chrome"][0] - times["firefox"][0]  # one counts from the recording's start
assert all(abs(c - f - first) < 1e-5 for c, f in zip(times["chrome"], times["firefox"])), "times"
assert all(abs(c - p) < 1e-5 for c, p in zip(times["chrome"], times["perfetto"])), "times"

# The JDK's recordings: functions that are none of Java have the file in the place of a class
samples = []
for chunk in jfr.chunks("jfr"):
    for name, event in chunk.events:
        if name not in ("jdk.ExecutionSample", "jdk.NativeMethodSample"):
            continue
        event = chunk.resolve(event)
        frames = []
        for frame in event["stackTrace"]["frames"]:
            method = frame["method"]
            java = frame["type"] in ("Interpreted", "JIT compiled", "Inlined") and method["type"]
            assert not method["type"] or method["type"]["name"][0] != "[", "an array has no methods"
            prefix = method["type"]["name"].replace("/", ".").replace("+", "/") + "." if java else ""
            frames.append(prefix + method["name"])
        samples.append((event["samples"], frames))
equal_stacks("jfr", samples)

# SQLite: whole stacks, by the frames' rows
db = sqlite3.connect("sqlite")
frames = {}
for stack, name in db.execute("SELECT stack_id, function FROM frames ORDER BY stack_id, depth"):
    frames.setdefault(stack, []).append(name)
equal_stacks("sqlite", [(weight, frames[stack]) for stack, weight in db.execute(
    "SELECT stack_id, weight FROM samples WHERE event = (SELECT value FROM facts WHERE key = 'record.event')")])
for kind, count in db.execute("SELECT kind, count(*) FROM events GROUP BY kind"):
    assert kind == "offcpu" or count == events[kind]["count"], (kind, count, events[kind])
