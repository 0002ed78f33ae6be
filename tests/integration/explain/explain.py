# SPDX-License-Identifier: Apache-2.0
"""explain.py MODE: checks MODE.json, the critical path of WhatIf's thread "coordinator", and MODE.same, a replay."""
import json
import sys

MODE = sys.argv[1]
with open(f"{MODE}.json", encoding="utf-8") as f:
    path = json.load(f)
with open(f"{MODE}.same", encoding="utf-8") as f:
    same = json.load(f)


def share(**wanted):
    """Of the time, what is in parts with these members."""
    return sum(p["time_s"] for p in path["parts"] if all(p[k] == v for k, v in wanted.items())) / path["time_s"]


parts = sum(p["time_s"] for p in path["parts"])
nodes = sum(n["self_s"] for n in path["nodes"])
assert abs(parts - path["time_s"]) < 1e-6 and abs(nodes - path["time_s"]) < 1e-6, (parts, nodes, path["time_s"])
assert path["time_s"] > 0.4, path["time_s"]
assert same["predicted_s"] == same["time_s"] == path["time_s"], same
assert share(state="unknown") < 0.05, path["parts"]
if MODE == "locked":
    # a request's turn comes after those of the others, who sleep in the lock; all may have to wait for a CPU
    assert share(state="sleeping", who="request-*") > 0.7 * (1 - share(state="runnable")), path["parts"][:5]
    # each thread has the lock for a quarter of the time, and waits for it most of the rest
    monitors = [n for n in path["nodes"] if n["state"] == "monitor" and n["object"] == "WhatIf$Journal"]
    behind = sum(n["total_s"] for n in monitors)
    assert behind > 0.3 * (1 - share(state="runnable")) * path["time_s"], path["nodes"]
    # Also where HotSpot's timer woke it, its time is that of the owner. A thread that finds the monitor free then has none.
    with open(f"{MODE}.locks", encoding="utf-8") as f:
        free = sum(int(line.split("duration_ns=")[1].split()[0]) for line in f if "owner=" not in line) / 1e9
    rest = sum(n["self_s"] for n in monitors)
    assert rest < 0.01 * behind + free, (rest, behind, free)
else:
    assert share(state="running", site="WhatIf.compress") > 2 * share(state="running", site="WhatIf.encode"), path["parts"][:5]
    # all may have to wait for a CPU
    assert share(state="running", who="consumer") > 0.7 * (1 - share(state="runnable")), path["parts"][:5]
