# SPDX-License-Identifier: Apache-2.0
"""compare.py DUMP FOUND: prints where what VisualVM's library has found in a heap dump (HeapReader.java) differs from
what the dump has by hprof.py."""
import sys
from collections import Counter

from hprof import PRIMITIVES, Dump

KINDS = {0xff: "unknown", 1: "JNI global", 2: "JNI local", 3: "Java frame", 4: "native stack", 5: "sticky class",
         6: "thread block", 7: "monitor used", 8: "thread object"}


def source_name(name):
    """A class's name as VisualVM prints it: "byte[][]" of "[[B"."""
    element = name.lstrip("[")
    depth = len(name) - len(element)
    if depth:
        kinds = {"ZCFDBSIJ"[i]: kind for i, kind in enumerate(PRIMITIVES.values())}
        element = kinds.get(element) or element[1:-1]
    return element.replace("/", ".") + depth * "[]"


def contents(d):
    counts = Counter()
    for ident in [*d.instances, *d.arrays, *d.values]:
        name = source_name(d.class_of(ident))
        counts["objects", name] += 1
        counts["references", name] += len(d.references(ident))
    for ident, c in d.classes.items():
        if c.dumped:
            counts["classes", source_name(c.name)] += 1
    for kind, ident, _, _ in d.roots:
        counts["roots", KINDS[kind]] += 1
        if kind == 3:
            counts["locals", "java.lang.Class" if ident in d.classes else source_name(d.class_of(ident))] += 1
    for frames in d.stacks().values():
        for owner, method, _, _, line in frames:
            # A native method's line is -3 in HPROF and -2 in a StackTraceElement.
            counts["frames", f"{source_name(owner)}.{method} {-2 if line == -3 else line}"] += 1
    return +counts


def main(dump, found):
    ours, theirs = contents(Dump(dump)), Counter()
    for line in open(found, encoding="utf-8"):
        kind, name, count = line.rstrip("\n").split("\t")
        theirs[kind, name] = int(count)
    wrong = [k for k in ours.keys() | theirs.keys() if ours[k] != theirs[k]]
    for k in sorted(wrong):
        print(*k, "hprof.py:", ours[k], "VisualVM:", theirs[k])
    print(sum(n for (kind, _), n in theirs.items() if kind == "objects"), "objects")
    return not wrong


if __name__ == "__main__":
    sys.exit(0 if main(*sys.argv[1:]) else 1)
