# SPDX-License-Identifier: Apache-2.0
"""views.py JAVA-VERSION: checks that the views which t_events_views.sh made agree with each other, and with the
program."""
import collections
import json
import re
import sys

import readers

version = int(sys.argv[1])
report = json.load(open("v.json"))
events = report["events"]
page = open("v.html", encoding="utf-8").read()
data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))
graphs = {g["name"]: g for g in data["graphs"]}
truth = dict(line.split() for line in open("truth"))
titles = {"alloc": "Allocations", "lock": "Contended monitors", "wait": "Object.wait", "offcpu": "Off-CPU time",
          "exception": "Exceptions", "live": "Live objects", "uncollected": "Not collected yet", "compile": "Compilations"}

script = collections.defaultdict(list)
for line in open("v.script"):
    head = re.match(r"\S.* \d+/\d+ \[\d+\] -?[\d.]+: braid:(\w+):(.*)", line)
    if head:
        script[head.group(1)].append({k: q or v for k, q, v in re.findall(r' (\w+)=(?:"([^"]*)"|(\S+))', head.group(2))})


def weight(kind):
    """Everything: waits of idle threads are in stacks and graphs, and a separate sum in the report."""
    return readers.weight(events[kind])


def by(kind, what):
    return {s["name"]: s for s in events[kind]["by_" + what]}


for kind in titles:
    stacks = [line.rsplit(" ", 1) for line in open(kind + ".stacks")]
    if kind not in events:
        assert not stacks and titles[kind] not in graphs, kind
        continue
    assert sum(int(n) for _, n in stacks) == weight(kind) == graphs.get(titles[kind], {"total": 0})["total"], kind
    if kind not in ("live", "uncollected"):
        # OFFCPU: those that others cover are in the script only, and those that are added up are no events there.
        assert len(script[kind]) >= events[kind]["count"] - events[kind].get("added_up", 0), kind
    assert sum(s["count"] for s in events[kind]["by_name"]) == events[kind]["count"], kind
    assert sum(s["count"] for s in events[kind]["by_thread"]) == events[kind]["count"], kind

timeline = data["timeline"]
spans = [span for span in zip(*[iter(timeline["spans"])] * 5) if timeline["kinds"][str(span[0])] == titles["lock"]]
assert len(spans) == events["lock"]["count"] and not timeline["left_out"]
assert abs(sum(span[4] for span in spans) / 1e6 - events["lock"]["weight_s"]) < 1e-4

# What the program did.
door = by("lock", "name")["Views$Door"]
assert door["count"] == int(truth["contended"]) and 0.1 < door["weight_s"], door
assert all(line.rsplit(" ", 1)[0].split(";")[-1] in by("lock", "name") for line in open("lock.stacks"))
owners = [b for b in report["blockers"] if b["class"] == "Views$Door"]
assert {b["blocked"]["name"] for b in owners} == {"wants-door"}, owners
owners = [b for b in owners if b["owner"]]  # a thread that checks the monitor itself, by a timer, has no waker
assert {b["owner"]["name"] for b in owners} == {"holds-door"} and {b["site"] for b in owners} == {"Views.holdDoor"}, owners
assert "Views.wantDoor" in by("lock", "site"), by("lock", "site")
oops = by("exception", "name")["Views$Oops"]
assert oops["weight"] == int(truth["raised"]), oops
assert by("exception", "site")["Views.oops"]["weight"] == int(truth["raised"])
assert by("wait", "site")["Views.waitALittle"]["weight_s"] > 0.025, by("wait", "site")
blocked = by("offcpu", "name")
assert blocked["parked"]["weight_s"] > 0.025 and blocked["sleeping"]["weight_s"] > 0.025, blocked
# Others are covered by what the agent reports, but for waits that are too short for that: less than a millisecond.
# Those that are too short for an event are added up without asking it.
shortest = {"waiting for notify": 1e-3, "blocked on a monitor": 1e-4}
assert all(blocked.get(reason, {"max_s": 0})["max_s"] < limit for reason, limit in shortest.items()), blocked
started = [t for t in report["lives"] if t["thread"]["name"] == "wants-door"]
assert len(started) == 5 and all(t["start_s"] is not None and t["end_s"] is not None for t in started), started
assert events["compile"]["count"] == sum(level["count"] for level in report["levels"])
assert report["starts"][-1]["classes"] > 200 and {"start", "init"} <= {s["phase"] for s in report["starts"]}
if version >= 11:
    alloc = by("alloc", "name")["long[]"]
    # HotSpot's own sampling is some percent off for objects of an eighth of the interval: agent/events/alloc.c.
    assert abs(alloc["weight_bytes"] / int(truth["allocated"]) - 1) < 5 * alloc["error"] + 0.15, (alloc, truth)
    assert "Views$Payload.<init>" in by("alloc", "site"), by("alloc", "site")
if "live" in events:  # at the end there may be no live sampled object
    assert all(age["age_s"] >= 0 and age["collections"] >= 1 for age in events["live"]["by_name"])
    assert events["live"]["count"] < events["alloc"]["count"]
