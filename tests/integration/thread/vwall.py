# SPDX-License-Identifier: Apache-2.0
"""vwall.py JSON: the report of where the time of VParks's ten thousand virtual threads went."""
import json
import sys

wall = json.load(open(sys.argv[1]))
lives = wall["virtual_lives"]
assert len(lives) == wall["virtual"]["threads"] >= 10000, len(lives)
for t in lives:
    assert abs(sum(t["states_s"].values()) - t["life_s"]) <= t["life_s"] / 1000 + 1e-6, t
    assert t["states_s"].get("unknown", 0) + t["excess_s"] <= t["life_s"] / 1000 + 1e-6, t
groups = {g["name"]: g for p in wall["processes"] for g in p["groups"] if g["virtual"]}
assert groups["k0-*"]["threads"] == groups["k1-*"]["threads"] == 2500, sorted(groups)
LEAST_S = 2 * 0.020 * 0.99  # each thread of these groups is off twice, for at least 20 ms
for group, state in (("k0-*", "sleeping"), ("k1-*", "parked")):
    assert groups[group]["states_s"][state] >= LEAST_S * groups[group]["threads"], groups[group]
assert groups["stuck-*"]["states_s"]["parked"] > groups["stuck-*"]["life_s"] / 2, groups["stuck-*"]  # parked for ever
processes = sum(p["life_s"] for p in wall["processes"])  # their carriers' lives have the times when they were mounted
assert abs(processes - wall["life_s"]) < 1e-3, (processes, wall["life_s"])
