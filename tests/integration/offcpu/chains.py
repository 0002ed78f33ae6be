# SPDX-License-Identifier: Apache-2.0
"""chains.py COLLAPSED SPEEDSCOPE: both have the same chains of wakers, by thread and with the same times."""
import collections
import json
import re
import sys

collapsed, speedscope = collections.Counter(), collections.Counter()
for line in open(sys.argv[1], encoding="utf-8", errors="surrogateescape"):
    chain, ns = line.rstrip("\n").rsplit(" ", 1)
    thread, *frames = chain.split(";")
    collapsed[(int(re.search(r"tid=(\d+)\]$", thread)[1]), ";".join(frames))] += int(ns)
file = json.load(open(sys.argv[2]))
names = [frame["name"].replace(";", ":") for frame in file["shared"]["frames"]]
for profile in file["profiles"]:
    tid = int(re.search(r"tid (\d+)\)$", profile["name"])[1])
    for stack, ns in zip(profile["samples"], profile["weights"], strict=True):
        speedscope[(tid, ";".join(names[frame] for frame in stack))] += ns
assert collapsed == speedscope, (collapsed - speedscope, speedscope - collapsed)
assert any(frames.count("--") > 1 for _, frames in ((c, c[1].split(";")) for c in collapsed)), "no chain has two wakers"
assert file["profiles"][0]["unit"] == "nanoseconds"
