# SPDX-License-Identifier: Apache-2.0
"""vparks.py TRACE [whole|part]: compares a recording of VParks with what the program has measured.

whole: the recording began before the program. part: the stuck threads were parked already.
"""
import sys

from events import index, lost, most, of, truth, vthreads

LEAST_NS = 100_000  # shorter times are only counted
CLASSES = {13: "unmounted", 14: "carrier"}
whole = sys.argv[2] == "whole"


def class_of(e):
    return e.flags >> 20 & 15


OFF, COUNTED = index("offcpu", "vthread"), index("counted", "vthread")
lives = {}
for t in of("thread_time"):
    if t.virtual:
        assert t.virtual.number not in lives, t
        lives[t.virtual.number] = t


def unmounted(t):
    """The times for which a virtual thread was unmounted, in order."""
    return sorted((e for e in OFF.get(t["vthread"], []) if class_of(e) == 13), key=lambda e: e.time_ns)


def adds_up(t):
    parts = t["value"] + sum(e.duration_ns for e in OFF.get(t["vthread"], []) if e.time_ns >= t.time_ns)
    parts += sum(e.weight for e in COUNTED.get(t["vthread"], []))
    assert abs(parts - t.duration_ns) <= t.duration_ns // 1000 + 1000, (t, parts)


def was_off(name, number, reported):
    """Two times off, in the thread's own method, as long as it says but for what it did beside them. A time that is over
    before the thread is off, because it has lost the CPU, it has spent mounted; adds_up() has found that its parts have
    no gap."""
    t = lives[number]
    method = "VParks.off" + name[1]
    # From JDK 26 on, a virtual thread is also unmounted while another one initializes a class of which it makes an object.
    own = [e for e in unmounted(t) if method in e.stack and not any("InterpreterRuntime4_newE" in f for f in e.stack)]
    assert t.virtual.name == name, (t.virtual, name)
    assert not any("VParks.off" + k in e.stack for e in unmounted(t) for k in "0123" if k != name[1]), (name, own)
    beside = t.duration_ns - sum(e.duration_ns for e in unmounted(t))
    assert len(own) <= 2 or name[1] == "2", (name, own, unmounted(t))
    if name[1] == "0" or name[1] == "1":
        missing = sum(reported) - sum(e.duration_ns for e in own)
        assert len(own) == 2 or missing <= beside + 2 * LEAST_NS, (name, own, unmounted(t), reported)
    # Who is unparked for a lock that another thread takes first parks again: both times may be of one call.
    of_one_call = name[1] == "3" and sum(e.duration_ns for e in own) <= max(reported) + LEAST_NS
    pairs = list(zip(own, reported)) if len(own) == 2 and not of_one_call else []
    for e, ns in pairs:
        assert e.duration_ns <= ns + LEAST_NS, (name, e, ns)
        assert ns - e.duration_ns <= ns // 100 + LEAST_NS + beside, (name, e, ns, beside)
    return [ns - e.duration_ns <= ns // 100 + LEAST_NS for e, ns in pairs]


# Code that the JVM frees at once may have no name. Times do not need it.
assert all(kind == "code_name" for _, kind, _ in lost), lost
for t in lives.values():
    adds_up(t)
close = []
for name, number, *reported in truth["off"]:
    close += was_off(name, int(number), [int(ns) for ns in reported])
assert 10 * sum(close) > 9 * len(close) > 0, (sum(close), len(close))  # what runs beside a time off is short
for name, number, ns in truth["yield"]:
    t = lives[int(number)]
    yields = [e for e in COUNTED.get(t["vthread"], []) + OFF.get(t["vthread"], []) if class_of(e) == 14]
    count = sum(e["value"] if e.kind == "counted" else 1 for e in yields)
    assert t.virtual.name == name and count == 1000, (t, count)
for name, number, ns in truth["spin"]:
    t = lives[int(number)]
    assert t.virtual.name == name and not unmounted(t) and t.duration_ns >= int(ns), t
for name, number, ns in truth["monitor"]:  # unmounted, or pinned, where the VM waits in several steps
    t = lives[int(number)]
    times = [e.duration_ns for e in OFF[t["vthread"]] if "VParks.off4" in e.stack]
    assert t.virtual.name == name, (t.virtual, name)
    assert 99_000_000 <= sum(times) <= int(ns) + LEAST_NS, (name, ns, times)
stuck = []
for name, number in truth["stuck"]:
    if not whole and int(name[6:]) >= 5:  # was never mounted, so nobody knows of it
        assert int(number) not in lives, (name, number)
        continue
    t = lives[int(number)]
    times = unmounted(t)
    before = [bool(e.flags & 0x40000) for e in times]
    ended = [not e.flags & 0x20000 for e in times]
    assert t.virtual.name == name, t
    stuck += ["VParks.stuck" in e.stack for e in times]
    assert ended == [True] * (len(times) - 1) + [False] and before[0] is not whole, (t, times)
    assert len(times) >= 1 if whole else len(times) >= 2, (t, times)  # a park may also return early
assert most(stuck), stuck  # the JVM's mappings change while it starts, and stacks of that time are dropped
numbers = {int(words[1]) for kind in ("off", "yield", "spin") for words in truth[kind]}
assert numbers <= set(lives) and len(vthreads) >= len(lives), numbers - set(lives)
