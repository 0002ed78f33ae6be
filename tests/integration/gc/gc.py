# SPDX-License-Identifier: Apache-2.0
"""gc.py TRACE LOG COLLECTOR REGION: compares the trace's collections with the log's (-Xlog:gc*:LOG:tags).

Pauses by kind, cause and heap, cycles by cause, concurrent phases by name. G1's sizes may differ by REGION MiB: the
log counts the content of regions that are being filled. Pauses before the JVM was live have no number, and may have
no cause.
"""
import collections
import json
import re
import sys

trace, log, collector, region = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
with open(trace + ".json") as f:
    gc = json.load(f)["gc"]
with open(log) as f:
    lines = [re.match(r"\[([a-z,]+) *\] GC\((\d+)\) (?:[yYoO]: )?(.*)", line) for line in f]
lines = [(m.group(1), m.group(3)) for m in lines if m]

# The parts of a title in brackets besides the cause.
DETAIL = re.compile(
    r"(Normal|Mixed|Concurrent Start|Prepare Mixed|Evacuation Failure.*|process weakrefs|unload classes|Mark|Roots|Evacuation"
    r"|Update Refs|Outside of Cycle|Major|Young|Old|Global)$")
BRACKETS = re.compile(r" \(((?:[^()]|\(\))*)\)")
failed = False


def differ(what, ours, logged):
    global failed
    if ours != logged:
        failed = True
        print(f"{collector}: {what}: {ours}, in the log {logged}", file=sys.stderr)


pauses = []  # title, cause, before, after
for tags, text in lines:
    match = re.match(r"(Pause .*?)(?: (\d+)M->(\d+)M\(\d+M\))? [0-9.]+ms$", text)
    if not match or tags != ("gc,phases" if collector == "Z" else "gc"):
        continue
    title = match.group(1)
    causes = [c for c in BRACKETS.findall(title) if not DETAIL.match(c)]
    title = BRACKETS.sub("", title) if title.startswith(("Pause Young", "Pause Full")) else title
    pauses.append((title, causes[0] if causes else None, match.group(2), match.group(3)))

# HotSpot announces a collection for metadata before it looks whether another thread's has made room: then there is none.
ours = sorted((p for p in gc["longest"] if p["what"]), key=lambda p: p["at_s"])
differ("pauses", len(ours), len(pauses))
differ("gc.count", gc["count"] - (len(gc["longest"]) - len(ours)), len(pauses))
differ("kinds", collections.Counter(p["what"] for p in ours), collections.Counter(p[0] for p in pauses))
for p, (title, cause, before, after) in zip(ours, pauses):
    where = f"pause at {p['at_s']} ({title})"
    differ(where, p["what"], title)
    if (cause or collector == "G1") and (p["number"] or p["cause"]):
        differ(where, p["cause"], cause or "")
    if before:
        off = region if collector == "G1" else 0
        for name, used, logged in (("before", p["used_before"], int(before)), ("after", p["used_after"], int(after))):
            mib = (used or 0) >> 20
            if not logged - off <= mib <= logged + off:
                differ(f"{where} {name}", mib, logged)

cycles = collections.Counter()
phases = collections.Counter()
for tags, text in lines:
    match = re.match(r"(?:Garbage|Minor|Major) Collection \(((?:[^()]|\(\))*)\) .*->", text)
    if match and tags == "gc":
        cycles[match.group(1)] += 1
    if re.match(r"Concurrent (Mark |Undo )?Cycle [0-9.]+ms$", text):
        cycles[""] += 1
    match = re.match(r"((?:Concurrent|Coalescing) .*?)(?: \(\d+\.\d+s, \d+\.\d+s\))?(?: \d+M->\d+M\(\d+M\))? [0-9.]+ms$", text)
    # G1 logs groups of phases like a phase
    if match and not re.match(r"Concurrent (Mark Cycle|Undo Cycle|Cycle|Mark)$" if collector == "G1" else "$", match.group(1)):
        phases[match.group(1)] += 1
ours_cycles = collections.Counter()
for c in gc["cycles"]:
    ours_cycles[c["cause"]] += c["count"]
if collector != "Shenandoah":  # whose log has none
    differ("cycles", ours_cycles, cycles)
differ("phases", collections.Counter({p["name"]: p["count"] for p in gc["phases"]}), phases)
sys.exit(failed)
