# SPDX-License-Identifier: Apache-2.0
# Reads `braid script` of a recording of VThreads.java: are the stacks of its virtual threads whole and exact, and are they
# said to be of the thread that ran them? Exits with 1, and says what was wrong, when too few are.
#
# vthreads.py FILE WHOLE NAMED: least percentages of whole stacks and of samples with an identity.
import collections
import re
import sys

HEAD = re.compile(r"^\S.* +\d+/\d+ \[\d+\] [\d.]+:")
VIRTUAL = re.compile(r'^# virtual thread (\d+)(?: "(.*)")?$')
# Once each, from the root to the program's own frames.
ROOT = ["ForkJoinWorkerThread.run", "VirtualThread.runContinuation", "Continuation.run", "Continuation.enterSpecial",
        "Continuation.enter", "VirtualThread.run", "VThreads.live"]


def samples(path):
    thread, frames = None, None
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            virtual = VIRTUAL.match(line)
            if virtual or HEAD.match(line):
                if frames is not None:
                    yield thread, frames
                    thread = None
                frames = None
                if virtual:
                    thread = virtual.groups()
                else:
                    frames = []
            elif line.startswith("\t") and frames is not None:
                frames.append(line.split(None, 1)[1].rsplit(" (", 1)[0].split("+0x")[0].strip())
    if frames is not None:
        yield thread, frames


def wrong_stack(names):
    """names: from the root. What is wrong, or None."""
    chains = {n for n in names if re.fullmatch(r"VThreads\.m\d", n)}
    if len(chains) != 1:
        return "chains mixed: " + " ".join(sorted(chains))
    chain = chains.pop()
    at = 0
    for root in ROOT:
        found = [i for i, n in enumerate(names) if n == root or n.endswith("." + root)]
        if len(found) != 1 or found[0] < at:
            return f"{root}: {len(found)} times, or out of order"
        at = found[0]
    levels = [n for n in names if re.fullmatch(r"VThreads\.at\d+", n)]
    # Behind the last call of a level the code of several may be shared, so only what is under way at a call is certain.
    if names[-1] == "VThreads.burn" and len(levels) == 1 and names.count(chain) != int(levels[0][len("VThreads.at"):]):
        return f"{names.count(chain)} frames in {levels[0]}"
    return None


def main():
    path, least_whole, least_named = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    count, named, whole = 0, 0, 0
    wrong, strange, examples = collections.Counter(), collections.Counter(), {}

    for thread, frames in samples(path):
        names = frames[::-1]
        if not any(re.fullmatch(r"VThreads\.m\d", n) for n in names):
            continue
        count += 1
        if thread:
            named += 1
            chain = next(n for n in names if re.fullmatch(r"VThreads\.m\d", n))[-1]
            want = f"v{chain}." if chain != "0" else None
            if (thread[1] is None) != (want is None) or (want and not thread[1].startswith(want)):
                strange[f"m{chain} in {thread[1]}"] += 1
        cause = next((n for n in names if n.startswith("[incomplete")), None)
        if cause:
            wrong[cause] += 1
            examples.setdefault(cause, frames[:6])
            continue
        whole += 1
        reason = wrong_stack(names)
        if reason:
            wrong[reason] += 1
            examples.setdefault(reason, frames[:6])
    inexact = sum(n for reason, n in wrong.items() if not reason.startswith("[incomplete"))
    print(f"{count} samples of virtual threads, {100 * whole / max(count, 1):.2f} % whole, "
          f"{100 * (whole - inexact) / max(whole, 1):.2f} % of them exact, {100 * named / max(count, 1):.2f} % with an identity, "
          f"{sum(strange.values())} under a wrong name")
    for reason, n in wrong.most_common(8):
        print(f"  {n} {reason}: {' < '.join(examples[reason])}")
    for what, n in strange.most_common(8):
        print(f"  {n} {what}")
    good = (count >= 50 and 100 * whole >= least_whole * count and 100 * named >= least_named * count
            and inexact * 500 <= whole and not strange)
    return 0 if good else 1


sys.exit(main())
