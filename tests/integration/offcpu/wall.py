# SPDX-License-Identifier: Apache-2.0
"""Checks the forms of `report --wall` and `export --event wall` of one recording against each other and the truth."""
import json

NS = 1e9


def load(name):
    with open(name, encoding="utf-8") as f:
        return json.load(f)


def ns(seconds):
    return round(seconds * NS)


def weigh(name):
    with open(name, encoding="utf-8") as f:
        return sum(int(line.rsplit(" ", 1)[1]) for line in f)


def lives(report):
    return {(t["pid"], t["tid"], t["start_s"]): t for t in report["lives"]}


whole, early, late, naps, busy, more = (load(n + ".json") for n in ("wall", "early", "late", "naps", "busy", "more"))
truth = {}
with open("truth", encoding="utf-8") as lines:
    for line in lines:
        words = line.split()
        if words and words[0] == "blocked":
            truth[words[1]] = [int(w) for w in words[2:]]

assert len(whole["lives"]) > 15 and whole["without_life"] == 0, whole["lives"]
for t in whole["lives"]:
    parts, life = t["states_s"], ns(t["life_s"])
    assert sum(map(ns, parts.values())) == life, t
    assert life == ns(t["end_s"]) - ns(t["start_s"]) or t["start_s"] == 0, t
    # what is lost or too much
    assert ns(parts.get("unknown", 0)) + ns(t["excess_s"]) <= life * 0.001 + 20000, t

# every sum of the same is the same
total = sum(ns(t["life_s"]) for t in whole["lives"])
assert total == ns(whole["life_s"]) == sum(ns(p["life_s"]) for p in whole["processes"]) == weigh("wall.stacks"), total
assert total == sum(ns(g["life_s"]) for p in whole["processes"] for g in p["groups"])
assert weigh("naps.stacks") == ns(naps["life_s"])
assert ns(busy["life_s"]) == total - ns(whole["states_s"]["idle"]) == weigh("busy.stacks")

# two parts of the recording are the whole
parts = [lives(early), lives(late)]
for key, t in lives(whole).items():
    assert sum(ns(p[key]["life_s"]) for p in parts if key in p) == ns(t["life_s"]), t
    for state in ("sleeping", "parked", "monitor"):
        exact = [ns(x["states_s"].get(state, 0)) - ns(x["only_counted_s"].get(state, 0)) for x in
                 (p[key] for p in parts if key in p)]
        assert sum(exact) == ns(t["states_s"].get(state, 0)) - ns(t["only_counted_s"].get(state, 0)), t

# 15 waits of at least 50 ms each, as long as the program's own measures
named = {t["name"]: t["states_s"] for t in naps["lives"]}
for name, state in (("napper", "sleeping"), ("parker", "parked"), ("taker", "parked")):
    asked, measured = 15 * 50000000 if name != "taker" else 0, sum(truth[name])
    # a thread that has asked for a sleep may lose the CPU before it sleeps, and waits for it behind that
    slept, waited = ns(named[name][state]), ns(named[name].get("runnable", 0))
    assert asked - waited <= slept <= measured, (name, named[name], measured)
assert {t["name"] for t in naps["lives"]} == {"napper", "parker", "taker"}, named

# a user's own rule
idle = {t["name"]: t["states_s"] for t in more["lives"]}["napper"]
assert ns(idle["idle"]) + ns(idle.get("runnable", 0)) >= 15 * 50000000 > ns(idle.get("sleeping", 0)), idle

# who woke whom
wakes = {w["text"]: w for w in whole["wakers"]}
taken = next(w for text, w in wakes.items() if text.startswith("taker [parked] in Blocked.takes <- giver in Blocked.giveAway"))
assert taken["count"] >= 14, taken
assert any(text.startswith("napper [sleeping] in Blocked.naps <- timer") for text in wakes), wakes
assert any("<- giver in Blocked.giveAway, after [sleeping] in Blocked.gives <- timer" in c["text"] for c in whole["chains"])
with open("wakers.stacks", encoding="utf-8") as stacks:
    assert any("Blocked.takes;" in s and ";--;" in s and s.index("Blocked.giveAway;") > s.index(";--;") and
               s.rsplit(" ", 1)[0].endswith(";[giver];--;[timer]") for s in stacks)
