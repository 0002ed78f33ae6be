# SPDX-License-Identifier: Apache-2.0
"""query.py TRACE [WHAT EXPRESSION]...: checks the expressions. See check() in lib.sh, which made the files beside the
trace.

`i` is the result of info --json, `r` that of report --json, and `stacks` a list of (frames from the root, samples),
annotated.
"""
import json
import re
import sys
from chance import about, at_least, at_most

FOR_EXPRESSIONS = (about, at_least, at_most)  # what the scripts' expressions may use
path = sys.argv[1]
with open(path + ".info") as f:
    i = json.load(f)
with open(path + ".json") as f:
    r = json.load(f)
stacks = []
with open(path + ".collapsed") as f:
    for line in f:
        frames, weight = line.rstrip("\n").rsplit(" ", 1)
        stacks.append((frames.split(";"), int(weight)))


NAMELESS = ("[unknown method]", "[unknown code]")


def plain(frame):
    """A frame's name without its annotation."""
    return re.sub(r"_\[[0-9a-z]\]$", "", frame)


def jvm(pid):
    return next(j for j in i["jvms"] if j["pid"] == pid)


def share(part, whole):
    """In percent; 0 of nothing."""
    return 100.0 * part / whole if whole else 0.0


def named():
    return share(i["frames"]["java_named"], i["frames"]["java"])


def complete():
    return share(i["java_samples"]["complete"], i["java_samples"]["total"])


def well(percent=99):
    """Whether at least `percent` percent of the samples of Java threads can have whole stacks, and those with Java
    frames only named ones."""
    java = with_java()
    return (at_least(i["java_samples"]["complete"], i["java_samples"]["total"], percent) and
            at_least(weight([(s, n) for s, n in java if not nameless(s)]), weight(java), percent))


def with_java():
    """The stacks with a Java frame."""
    return [(s, n) for s, n in stacks if nameless(s) or any(re.search(r"_\[[ij01]\]$", f) for f in s)]


def nameless(s):
    """Whether one of its Java frames has no name."""
    return any(plain(f) in NAMELESS for f in s)


def with_frame(name):
    """The stacks with a frame of this name."""
    return [(s, n) for s, n in stacks if name in map(plain, s)]


def weight(some):
    return sum(n for _, n in some)


def matching(some, pattern):
    """Those of the stacks that match the pattern, with ';' between the plain names."""
    regex = re.compile(pattern)
    return [(s, n) for s, n in some if regex.search(";".join(map(plain, s)))]


def all_match(some, pattern):
    """The share of samples whose whole stack, with ';' between the plain names, matches the pattern."""
    return share(weight(matching(some, pattern)), weight(some))


def mostly_match(some, pattern, percent=99):
    """As all_match: whether the true share can be at least `percent` percent."""
    return at_least(weight(matching(some, pattern)), weight(some), percent)


def unbroken(some):
    """Those of the stacks that reached the thread's first frame."""
    return [(s, n) for s, n in some if not s[0].startswith("[incomplete")]


def whole(some):
    """The share of samples whose stack reached the thread's first frame."""
    return share(weight(unbroken(some)), weight(some))


def mostly_whole(some, percent=99):
    """As whole: whether the true share can be at least `percent` percent."""
    return at_least(weight(unbroken(some)), weight(some), percent)


def all_named(some):
    """Whether none of their Java frames lacks a name."""
    return not any(nameless(s) for s, _ in some)


def enough(samples, expected):
    """Whether there are at least a tenth of the samples that the CPU time gives. A machine with other work drops ticks,
    but not nine of ten."""
    return 10 * samples >= expected


def alike(*names):
    """Whether the threads of these names, which burn the same CPU time, have the same number of samples, within chance
    and the differences of their starts."""
    counts = [thread(name) for name in names]
    return all(about(n, sum(counts), 100 / len(counts), 2) for n in counts)


def total(name):
    """Samples with the method anywhere on the stack."""
    return sum(m["total"] for m in r["methods"] if m["name"] == name)


def thread(name):
    """Samples of the threads of this name."""
    return sum(t["samples"] for t in r["threads"] if t["name"] == name)


def notice(text):
    return any(text in n["text"] for n in r["notices"])


def explain(expression):
    """The values of the parts that are false."""
    for part in re.split(r"\band\b", expression):
        try:
            if not eval(part):
                left = re.split(r">=|<=|==|!=|>|<|\bin\b", part)
                print("  not %s: %s is %r" % (part.strip(), left[0].strip(), eval(left[0])), file=sys.stderr)
        except Exception:  # a part that has no meaning without its neighbours
            pass


for what, expression in zip(sys.argv[2::2], sys.argv[3::2]):
    expression = " ".join(expression.split())
    if not eval(expression):  # an expression of the tests themselves
        print("%s: not true: %s" % (what, expression), file=sys.stderr)
        explain(expression)
        sys.exit(1)
