# SPDX-License-Identifier: Apache-2.0
# Reads `braid script` of a recording of VThreads.java, and checks that the stacks of its virtual threads are whole and
# exact, and have the identity of the thread that ran them. Exits with 1, and prints what was wrong, when too few are.
# An identity or a name may be missing, but must not be another's.
#
# vthreads.py FILE TRUTH WHOLE IDENTIFIED NAMED: the program's output (empty, if it was ended), and least percentages of
# whole stacks, of samples with an identity, and of samples of named threads with the name.
import collections
import re
import sys

from chance import at_least

HEAD = re.compile(r"^\S.* +\d+/\d+ \[\d+\] +(-?[\d.]+):")
VIRTUAL = re.compile(r'^# virtual thread (\d+)(?: "(.*)")?$')
# Once each, from the root to the program's own frames.
ROOT = ["ForkJoinWorkerThread.run", "VirtualThread.runContinuation", "Continuation.run", "Continuation.enterSpecial",
        "Continuation.enter", "VirtualThread.run", "VThreads.live"]


# The JVM generates the code to which virtual threads return when the first of them runs, and another of its threads
# announces that code later, when it gets a CPU. Until the collector has received it, frozen frames cannot be walked, so
# stacks need to be whole only after this many seconds. Identities are known from the first sample on.
SETTLED_S = 0.25


def samples(path):
    """Time, thread, frames from the leaf, each a name and an address."""
    thread, frames, when = None, None, 0.0
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            virtual, head = VIRTUAL.match(line), HEAD.match(line)
            if virtual or head:
                if frames is not None:
                    yield when, thread, frames
                    thread = None
                frames = None
                if virtual:
                    thread = virtual.groups()
                else:
                    frames, when = [], float(head.group(1))
            elif line.startswith("\t") and frames is not None:
                address, name = line.split(None, 1)
                frames.append((name.rsplit(" (", 1)[0].split("+0x")[0].strip(), address))
    if frames is not None:
        yield when, thread, frames


KERNEL = 1 << 47


def chains_on(frames):
    """The chains that the stack belongs to. Inlining where a thread was interrupted is known only at calls, so that
    frame may belong to the next chain. It is the first one below the kernel's."""
    leaf = next((address for _, address in frames if int(address, 16) < KERNEL), None)
    return [name for name, address in frames if address != leaf and re.fullmatch(r"VThreads\.m\d", name)]


def wrong_stack(names, chains):
    """names: from the root. Returns the fault, or None."""
    chains = set(chains)
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
    # After the last call of a level several levels may share code, so only a frame at a call is certain.
    if names[-1] == "VThreads.burn" and len(levels) == 1 and names.count(chain) != int(levels[0][len("VThreads.at"):]):
        return f"{names.count(chain)} frames in {levels[0]}"
    return None


def chains_of(path):
    """The chain that each thread ran, by its id, from the program's output."""
    chains = {}
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if re.match(r"\d: ", line):
                chains.update((number, line[0]) for number in line[2:].split())
    return chains


def strange_identity(thread, chain, chains):
    """The fault when the sample has another's identity; None when all agrees."""
    number, name = thread
    if chains and chains.get(number) != chain:
        return f"m{chain} in thread {number} of m{chains.get(number)}"
    if name is not None and not (chain != "0" and name.startswith(f"v{chain}.")):
        return f"m{chain} in {name}"
    return None


def main():
    path, truth = sys.argv[1:3]
    least_whole, least_identified, least_named = (float(a) for a in sys.argv[3:6])
    chains = chains_of(truth)
    count, identified, named, namable, settled, whole = 0, 0, 0, 0, 0, 0
    wrong, strange, examples = collections.Counter(), collections.Counter(), {}

    first = None
    for when, thread, frames in samples(path):
        chains_here = chains_on(frames)
        if not chains_here:
            continue
        chain = chains_here[-1][-1]
        frames = [name for name, _ in frames]
        names = frames[::-1]
        first = when if first is None else first
        count += 1
        if thread:
            strange[strange_identity(thread, chain, chains)] += 1
            identified += 1
            namable += chain != "0"
            named += thread[1] is not None
        if when < first + SETTLED_S:
            continue
        settled += 1
        cause = next((n for n in names if n.startswith("[incomplete")), None)
        if cause:
            wrong[cause] += 1
            examples.setdefault(cause, frames[:6])
            continue
        whole += 1
        reason = wrong_stack(names, chains_here)
        if reason:
            wrong[reason] += 1
            examples.setdefault(reason, frames[:6])
    strange.pop(None, None)
    inexact = sum(n for reason, n in wrong.items() if not reason.startswith("[incomplete"))
    print(f"{count} samples of virtual threads, {100 * whole / max(settled, 1):.2f} % whole, "
          f"{100 * (whole - inexact) / max(whole, 1):.2f} % of them exact, "
          f"{100 * identified / max(count, 1):.2f} % with an identity, {100 * named / max(namable, 1):.2f} % of them with "
          f"their name, {sum(strange.values())} under a wrong one")
    for reason, n in wrong.most_common(8):
        print(f"  {n} {reason}: {' < '.join(examples[reason])}")
    for what, n in strange.most_common(8):
        print(f"  {n} {what}")
    good = (settled >= 50 and at_least(whole, settled, least_whole) and at_least(identified, count, least_identified)
            and at_least(named, namable, least_named) and at_least(whole - inexact, whole, 99.8) and not strange)
    return 0 if good else 1


sys.exit(main())
