# SPDX-License-Identifier: Apache-2.0
"""spans.py SCRIPT INSIDE BETWEEN [LEAST [one]]: checks that each sample or event with a stack that the pattern INSIDE matches
has the span whose id ends with the number in the pattern's groups, the last group first, or, of at most 100 - LEAST
percent, none; and that no other one has a span. Patterns are matched with the frames from the leaf, joined by ";". Those
that match BETWEEN are left out: there, spans begin and end.

With a fifth argument, every thread has one number in all of its spans.

An incomplete stack that does not match INSIDE does not say where its thread was. There must be few of them.

Prints how many samples were in spans.
"""
import re
import sys
from chance import at_least

path, pattern, between = sys.argv[1], re.compile(sys.argv[2]), re.compile(sys.argv[3])
inside = right = wrong = outside = leaked = unknown = 0
examples = []
numbers = {}
for block in open(path).read().split("\n\n"):
    lines = [line for line in block.split("\n") if line]
    spans = [line for line in lines if line.startswith("# trace ")]
    heads = [line for line in lines if not line.startswith(("#", "\t", " "))]
    frames = [line.split()[1] for line in lines if line.startswith("\t")]
    if not heads or not re.search(r" [a-z_:-]+:$", heads[-1]):
        continue
    virtual = [line.split()[3] for line in lines[-len(frames) - 3:] if line.startswith("# virtual thread ")]
    who = virtual[-1] if virtual else heads[-1].split()[1]
    found = pattern.search(";".join(frames))
    span = int(spans[-1].split()[4], 16) if spans else None
    incomplete = any(f.startswith("[incomplete") for f in frames)
    # A carrier that is mounting or unmounting a virtual thread works for it, and an incomplete stack does not show it.
    carries = not virtual and (incomplete or any("enterSpecial" in f for f in frames))
    if span is not None and not carries:
        numbers.setdefault(who, set()).add(span & 0xffffffff)
        if len(sys.argv) > 5 and len(numbers[who]) > 1:
            wrong += 1
            examples.append(block)
            continue
    if not found and between.search(";".join(frames)):
        continue
    if not found and incomplete:
        unknown += 1
        continue
    if not found:
        outside += 1
        leaked += span is not None
        if span is not None:
            examples.append(block)
        continue
    inside += 1
    number = int("".join(reversed(found.groups())))
    right += span is not None and span & 0xffffffff == number
    if span is not None and span & 0xffffffff != number:
        wrong += 1
        examples.append(block)
print(f"{inside} samples in spans, {right} right, {wrong} of another span; {leaked} of {outside} others have one; "
      f"{unknown} are not known to be in one")
if wrong or leaked:
    sys.exit("mixed up:\n" + "\n\n".join(examples[:3]))
least = float(sys.argv[4]) if len(sys.argv) > 4 else 99.9
if not at_least(right, inside, least):
    sys.exit("spans are missing")
if not at_least(inside + outside, inside + outside + unknown, 95):
    sys.exit("too many stacks are incomplete")
