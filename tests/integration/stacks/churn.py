# SPDX-License-Identifier: Apache-2.0
"""churn.py TRUTH SCRIPT LOST: checks that every sample in `braid script --lines` is of the generation that its thread
ran then.

TRUTH has lines "thread generation from to" (nanoseconds); a thread called turn-N runs generation N all its life.
LOST is the recording's own count of frames that it could not name. Prints the figures; fails when a sample is of
another generation, when unnamed frames were not counted, and when stacks of the program's own threads are not whole.
"""
import bisect
import re
import sys
from chance import at_least

HEAD = re.compile(r"^(\S+) (\d+)/(\d+) \[\d+\] (\d+)\.(\d{9}):\s+\d+ \S+:$")
NUMBER = re.compile(r"(?:Template|work|part|outer|middle|inner|leaf|turn-)(\d{5})\b")
VERSION = re.compile(r"^ChurnVersion\.body$|^ChurnVersions\.helper(\d)$")
DIVE = re.compile(r"^ChurnUnwind\.dive(\d)$")
UNKNOWN = ("[unknown method]", "[unknown code]")
WHOLE_PERCENT = 99.5

truth = {}
with open(sys.argv[1]) as f:
    for line in f:
        words = line.split()
        if len(words) == 4 and all(w.isdigit() for w in words[1:]):  # skips the JVM's own output
            truth.setdefault(words[0], []).append((int(words[2]), int(words[3]), int(words[1])))
for turns in truth.values():
    turns.sort()


class Frame:
    def __init__(self, text):
        name, _, module = text.split(" ", 1)[1].rpartition(" (")
        self.name = name
        self.generated = module.startswith("/tmp/perf-")
        self.line = 0

    def generations(self):
        """The generations of its names and its line."""
        version = VERSION.match(self.name)
        if version:
            return {int(version.group(1))} if version.group(1) else {self.line // 100 - 1} if self.line else set()
        return {int(n) for n in NUMBER.findall(self.name)}

    def __str__(self):
        return self.name + (":%d" % self.line if self.line else "")


def samples(path):
    """(thread, time, frames from the leaf)"""
    with open(path) as f:
        head, frames = None, []
        for line in f:
            if line.startswith("\t"):
                frames.append(Frame(line.strip()))
            elif line.startswith("  ") and frames:
                frames[-1].line = int(line.rpartition(":")[2])
            elif line.strip():
                head, frames = HEAD.match(line.rstrip("\n")), []
            elif head:
                yield head.group(1), int(head.group(4)) * 10**9 + int(head.group(5)), frames
                head = None


def active(thread, time):
    """The generation that the thread ran, None when it ran none."""
    if thread.startswith("turn-"):
        return int(thread[5:])
    turns = truth.get(thread, [])
    at = bisect.bisect_right(turns, (time, 1 << 62, 0)) - 1
    return turns[at][2] if at >= 0 and time <= turns[at][1] else None


def is_own(thread):
    return thread in truth or thread.startswith("turn-") or thread == "diver"


def in_order(java):
    """The recursion goes through dive0 to dive7 and again, from its first call on."""
    order = [int(m.group(1)) for m in (DIVE.match(f.name) for f in reversed(java)) if m]
    return order == [n % 8 for n in range(len(order))]


seen = dict.fromkeys(("samples", "java", "own", "whole", "of a generation", "frames", "lines", "unnamed", "wrong"), 0)
generations, examples = set(), []
for thread, time, frames in samples(sys.argv[2]):
    seen["samples"] += 1
    java = [f for f in frames if f.generated]
    if not java:
        continue
    whole = not any(f.name.startswith("[incomplete") for f in frames)
    seen["java"] += 1
    if is_own(thread):
        seen["own"] += 1
        seen["whole"] += whole
        if not whole:
            examples.append(("incomplete", thread, time, frames))
    seen["frames"] += len(java)
    seen["lines"] += sum(f.line > 0 for f in java)
    unnamed = sum(f.name.startswith(UNKNOWN) for f in java)
    seen["unnamed"] += unnamed
    if unnamed:
        examples.append(("unnamed", thread, time, frames))
    numbers = set().union(*(f.generations() for f in java))
    dives = any(DIVE.match(f.name) for f in java)
    if not numbers and not dives:
        continue
    seen["of a generation"] += 1
    generations |= numbers
    # For threads without truth, only that there is a single generation.
    right = numbers == {active(thread, time)} if is_own(thread) and numbers else len(numbers) < 2
    if not right or (whole and not in_order(java)):
        seen["wrong"] += 1
        examples.append(("WRONG, ran %s" % active(thread, time), thread, time, frames))

seen["generations"] = len(generations)
percent = 100 * seen["whole"] / max(1, seen["own"])
print(", ".join("%s %d" % (k, v) for k, v in seen.items()) + ", own stacks whole %.2f %%" % percent)
for what, thread, time, frames in sorted(examples, key=lambda e: "Wui".index(e[0][0]))[:8]:
    print("%s: %s at %d: %s" % (what, thread, time, " < ".join(map(str, frames[:16] + frames[-1:]))))
if not at_least(seen["whole"], seen["own"], WHOLE_PERCENT):
    sys.exit("too many stacks are not whole")
if seen["wrong"] or seen["unnamed"] > int(sys.argv[3]) or not seen["of a generation"]:
    sys.exit("not as it was")
