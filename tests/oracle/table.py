#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""table.py row JDK MODE FILE... | page FILE...: summarizes the comparisons of compare.py --json."""
import collections
import json
import os
import sys

MODES = {"default": "(none)", "interpreted": "-Xint", "C1": "-XX:TieredStopAtLevel=1", "C2": "-XX:-TieredCompilation"}
INTRO = """# The oracle for stacks

`make test-oracle` takes stacks twice at the same moment, by JVM TI's GetStackTrace and by braid's walk, and compares them frame
by frame: class, method, signature, byte code index and line, from leaf to root, inlined frames included. Hidden frames are shown by both. It is
written to this page; `tests/integration/stacks/t_oracle.sh` is a short run in CI.

A test agent ([tests/oracle/oracle.c](../tests/oracle/oracle.c)) is called at a selected moment, gets the stack of the
current thread, and makes a system call that nothing else makes; `braid record -e syscalls:sys_enter_getpriority` walks the same
stack there. The moments of one column:

* **calls**: JNI native methods (called by interpreted, C1, C2 and inlined code, and calling Java again), every sampled object
  allocation (JDK 11 and later), the VM's own allocations, exceptions thrown and caught, contended and awaited monitors, class loading and
  preparation, breakpoints, starts and ends of threads;
* **trace**: single steps, method entries and exits, popped frames of a thread that is traced, and so interpreted;
* **suspended**: a thread that SuspendThread has stopped at a safepoint poll, wherever that is in its compiled loops and
  returns; its stack was walked when it left its CPU (`-e sched:sched_switch`).

The program ([tests/oracle/java/Oracle.java](../tests/oracle/java/Oracle.java)) puts calls of 26 kinds on top of each other in
random order: virtual, interface, synchronized, recursive, reflective, method handles, proxies, lambdas, streams,
comparators, doPrivileged, class initialisers, Java to native to Java, on-stack replacement and others, up to some hundred frames deep.

Not compared: of native methods the index (JVM TI returns -1), and of classes made by defineAnonymousClass (JDK 8 and 11) the number
behind the slash of their names: it is the hash code of an object, is not in the VM's names, and braid leaves it out.

"""


def load(paths):
    sums = collections.Counter()
    detail = {"moments": collections.Counter(), "wrong": collections.Counter(), "kinds": collections.Counter()}
    for path in paths:
        with open(path) as f:
            r = json.load(f)
        what = os.path.basename(path).rsplit("-", 1)[1].split(".")[0]
        sums[what] += r["compared"]
        for key in ("compared", "frames", "early"):
            sums[key] += r[key]
        sums["deepest"] = max(sums["deepest"], r["deepest"])
        for key in detail:
            detail[key].update(r[key])
    return sums, detail


def row(jdk, mode, paths):
    s, d = load(paths)
    wrong = sum(n for k, n in d["wrong"].items() if k != "incomplete")
    return "| %s | %s | %s | `%s` | %s | %d | %s | %s | %s | %d | %d |" % (
        jdk, mode, "{:,}".format(s["compared"]), MODES[mode], "{:,}".format(s["frames"]), s["deepest"],
        "{:,}".format(s["calls"]), "{:,}".format(s["trace"]), "{:,}".format(s["prey"]), wrong, d["wrong"]["incomplete"])


def page(paths):
    cells = collections.OrderedDict()
    for path in sorted(paths, key=lambda p: (int(os.path.basename(p).split("-")[0]),
                                             list(MODES).index(os.path.basename(p).split("-")[1]))):
        jdk, mode, _ = os.path.basename(path).split("-")
        cells.setdefault((jdk, mode), []).append(path)
    s, d = load(paths)
    print(INTRO, end="")
    print("| JDK | mode | comparisons | options | frames | deepest | calls | trace | suspended | mismatches | incomplete |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for (jdk, mode), some in cells.items():
        print(row(jdk, mode, some))
    print("\nAltogether {:,} comparisons with {:,} frames; mismatches: {}; incomplete stacks: {}.".format(
        s["compared"], s["frames"], sum(d["wrong"].values()) - d["wrong"]["incomplete"], d["wrong"]["incomplete"]))
    print("{:,} stacks were early: taken before the collector had read how the JVM lays out its frames.".format(s["early"]))
    print("\n| moment | comparisons |\n|---|---|")
    for name, n in d["moments"].most_common():
        print("| %s | %s |" % (name, "{:,}".format(n)))
    names = {"tier 0": "native wrapper", "tier 1": "C1, without profiling", "tier 2": "C1, counters", "tier 3": "C1, full profiling",
             "tier 4": "C2"}
    print("\n| kind of frame | frames |\n|---|---|")
    for name, n in d["kinds"].most_common():
        print("| %s | %s |" % (names.get(name, name), "{:,}".format(n)))


if sys.argv[1] == "row":
    print(row(sys.argv[2], sys.argv[3], sys.argv[4:]))
else:
    page(sys.argv[2:])
