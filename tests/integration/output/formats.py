# SPDX-License-Identifier: Apache-2.0
"""What other tools' readers find in the formats, compared with the collapsed stacks: the weight of each method itself,
and of all of them."""
import json
import re
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
tables = {"string_table": [], "function_table": [], "location_table": [], "stack_table": []}
values, indices, path, period = [], [], [], set()
for line in open("otlp.txt"):
    line = line.strip()
    if line.endswith("{"):
        path.append(line[:-2])
        if path[-1] in tables:
            tables[path[-1]].append({})
        elif path[-1] == "samples":
            values.append(0)
            indices.append(0)
    elif line == "}":
        path.pop()
    else:
        key, value = line.split(": ", 1)
        if key == "string_table":
            tables[key].append(value[1:-1].encode().decode("unicode_escape"))
        elif path[-1] == "samples" and key == "values":
            values[-1] = int(value)
        elif path[-1] == "samples" and key == "stack_index":
            indices[-1] = int(value)
        elif path[-1] == "profiles" and key == "period":
            period.add(int(value))
        elif path[-1] in ("function_table", "stack_table"):
            tables[path[-1]][-1].setdefault(key, []).append(int(value))
        elif path[-1] == "lines" and key == "function_index":
            tables["location_table"][-1]["function"] = int(value)
found = Counter()
for index, value in zip(indices, values):
    leaf = tables["stack_table"][index]["location_indices"][0]
    function = tables["function_table"][tables["location_table"][leaf]["function"]]
    found[tables["string_table"][function["name_strindex"][0]]] += value
equal("otlp", found)
assert len(period) == 1 and 900000 < period.pop() < 1100000, "997 Hz"

# speedscope: weights in nanoseconds
data = json.load(open("speedscope"))
frames = [f["name"] for f in data["shared"]["frames"]]
found, whole = Counter(), Counter()
for profile in data["profiles"]:
    assert profile["type"] == "sampled" and len(profile["samples"]) == len(profile["weights"]), profile["name"]
    assert profile["endValue"] == sum(profile["weights"]), profile["name"]
    for stack, weight in zip(profile["samples"], profile["weights"]):
        assert weight % (1000000000 // 997) == 0, weight
        found[frames[stack[-1]]] += weight // (1000000000 // 997)
        whole[";".join(frames[i].replace(";", ":") for i in stack)] += weight // (1000000000 // 997)
equal("speedscope", found)
assert whole == stacks, "whole stacks"

# HPROF's text: from the leaf
found, whole = Counter(), Counter()
for weight, thread, frames in readers.hprof("hprof")["samples"]:
    found[frames[0]] += weight
    whole[";".join(f.replace(";", ":") for f in reversed(frames))] += weight
equal("hprof", found)
assert whole == stacks, "whole stacks"

# Formats with times: the same samples, at the same times, and of each kind of event the same number and weight
h = readers.heatmap("heatmap")
assert h["total"] == total, h["total"]
times = {}
for name, path in ("chrome", "chrome"), ("firefox", "firefox"), ("perfetto", "perfetto.txt"):
    timed = getattr(readers, name)(path)
    found, whole = Counter(), Counter()
    for _, _, weight, _, frames in timed.samples:
        found[frames[0]] += weight
        whole[";".join(f.replace(";", ":") for f in reversed(frames))] += weight
    equal(name, found)
    assert whole == stacks, f"{name}: whole stacks"
    assert events["gc_pause"]["count"] >= 2, events
    timed.check(events)
    pauses = timed.ns["gc_pause"], timed.weights["gc_pause"]
    assert pauses[0] == pauses[1] > 0, (name, pauses)
    times[name] = sorted(s[1] for s in timed.samples)
first = times["chrome"][0] - times["firefox"][0]  # one counts from the recording's start
assert all(abs(c - f - first) < 1e-5 for c, f in zip(times["chrome"], times["firefox"])), "times"
assert all(abs(c - p) < 1e-5 for c, p in zip(times["chrome"], times["perfetto"])), "times"

# The JDK's recordings: functions that are none of Java have the file in the place of a class
found, whole = Counter(), Counter()
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
        found[frames[0]] += event["samples"]
        whole[";".join(f.replace(";", ":") for f in reversed(frames))] += event["samples"]
equal("jfr", found)
assert whole == stacks, f"jfr: whole stacks {(whole - stacks).most_common(3)} {(stacks - whole).most_common(3)}"
