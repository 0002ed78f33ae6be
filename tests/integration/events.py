# SPDX-License-Identifier: Apache-2.0
"""events.py TRACE [WHAT EXPRESSION]...: checks expressions about the JVM events in the trace. See events() in lib.sh.

EVENTS_OF=PID omits the threads and events of all other processes, of which there may be millions.

`of(KIND)` is the list of the events of a kind. Their fields are those of docs/trace-format.md, with names instead of
name ids, threads and processes, `virtual` for its virtual thread, and with the names of their stacks' frames. `truth` is the program's output if there
is such a file beside the trace: a list of words for each line, by its first word. WHAT --names prints the names of
the events of the kind EXPRESSION, in order.
"""
import functools
import math
import os
import re
import subprocess
import sys
from collections import Counter
from chance import about, at_least, at_most

FOR_EXPRESSIONS = (Counter, about, at_least, at_most)  # what the scripts' expressions may use
KINDS = {}
for line in open(os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../include/braid/jvm_event.h")):
    match = re.match(r"\tBRAID_JVM_([A-Z_]+) = (\d+),", line)
    if match:
        KINDS[int(match.group(2))] = match.group(1).lower()

FIELD = re.compile(r'(\w+)=(?:"((?:[^"\\]|\\.)*)"|(\S+))')


def value(quoted, plain):
    if plain == "":
        return quoted
    try:
        return int(plain, 0)
    except ValueError:
        return plain


class Event(dict):
    __getattr__ = dict.__getitem__


class JvmEvent(Event):
    """Its line is read when one of its fields but the kind is asked for: there may be a million, of which few are."""

    def __init__(self, kind, line):
        super().__init__(kind=kind)
        self.__dict__["line"] = line

    def __missing__(self, key):
        line = self.__dict__.pop("line", None)
        if line is None:
            raise KeyError(key)
        kind = self["kind"]
        self.update(fields(line))
        self.update(kind=kind, name=names[self.name], detail=names[self.detail], thread=threads.get(self.thread),
                    process=processes.get(self.process), virtual=vthreads.get(self.vthread), other=threads.get(self.other),
                    stack=stack(self.node), other_stack=stack(self.other_node))
        return self[key]


KIND = re.compile(r"\bkind=(\d+)")


def fields(text):
    return Event((key, value(quoted, plain)) for key, quoted, plain in FIELD.findall(text))


class Rows(dict):
    """Lines of a kind by their numbers: there may be a million, so one is read when it is asked for."""

    def __init__(self, kind, read):
        super().__init__()
        self.number, self.read, self.lines = re.compile(r"\b%s=(\d+)" % kind), read, {}

    def add(self, line):
        self.lines[int(self.number.search(line)[1])] = line

    def __missing__(self, number):
        self[number] = self.read(fields(self.lines[number]))
        return self[number]

    def get(self, number, default=None):
        return self[number] if number in self or number in self.lines else default


names = Rows("name", lambda row: row.text)
names[0] = ""
rows = {"name": names, "node": Rows("node", lambda row: (row.frame, row.parent)), "frame": Rows("frame", Event),
        "method": Rows("method", lambda row: row.class_name + "." + row.name), "symbol": Rows("symbol", lambda row: row.name),
        "code": Rows("code", Event)}
nodes, frames, methods, symbols, codes = (rows[kind] for kind in ("node", "frame", "method", "symbol", "code"))
threads, processes, vthreads, events, stats, notices, lost, losses = {}, {}, {}, [], {}, [], [], []
only, mine = os.environ.get("EVENTS_OF"), None
raw = subprocess.Popen([os.environ["BUILD"] + "/braid", "script", "--raw", sys.argv[1]], stdout=subprocess.PIPE, text=True)
for line in raw.stdout:
    kind, _, rest = line.partition(" ")
    if kind in rows:
        rows[kind].add(rest)
        continue
    if only and kind in ("thread", "jvm_event") and (not mine or mine not in rest):
        continue
    if kind not in ("thread", "process", "jvm_event", "stat", "notice", "loss", "vthread"):
        continue
    if kind == "jvm_event":
        number = int(KIND.search(rest)[1])
        events.append(JvmEvent(KINDS.get(number, number), rest))
        continue
    row = fields(rest)
    if kind == "thread":
        threads[row.thread] = row
    elif kind == "vthread":
        vthreads[row.vthread] = row
    elif kind == "process":
        processes[row.process] = row
        mine = " process=%d " % row.process if str(row.pid) == only else mine
    elif kind == "stat":
        stats[row.key] = row["value"]
    elif kind == "notice":
        notices.append(row.text)
    elif kind == "loss":
        if row.hop != "sideband":  # the kernel drops these on a busy machine
            lost.append((row.hop, row.kind, row["count"]))
            losses.append((row.process, row.hop, row.kind, row["count"]))
if raw.wait():
    sys.exit("braid script --raw failed")

def frame_names(f):
    """Innermost first: inlined methods have their own names."""
    inner = [int(scope.split(":")[0]) for scope in f.scopes.strip("[]").split(",") if scope]
    if f.kind == 15:
        return ["[kernel]"]
    if f.kind == 3:
        return ["[incomplete]"]
    if inner:
        return [methods.get(m, "?") for m in inner]
    if f.kind == 1:
        return [codes[f.code].name or methods.get(codes[f.code].method, "?")] if f.code else ["?"]
    return [symbols.get(f.symbol, "?")]


@functools.cache
def names_of(frame):
    return frame_names(frames[frame])


@functools.cache
def stack(node):
    """The names of a node's frames, leaf first."""
    found = []
    while node:
        frame, node = nodes[node]
        found += names_of(frame)
    return found


truth = {}
if os.path.exists(sys.argv[1] + ".truth"):
    for line in open(sys.argv[1] + ".truth"):
        words = line.split()
        if words:
            truth.setdefault(words[0], []).append(words[1:])


BY_KIND = {}
for e in events:
    BY_KIND.setdefault(e.kind, []).append(e)


@functools.cache
def index(kind, field):
    """The events of a kind as lists, by a field's value."""
    found = {}
    for e in of(kind):
        found.setdefault(e[field], []).append(e)
    return found


def of(kind, **wanted):
    assert kind in KINDS.values(), kind
    some = BY_KIND.get(kind, [])
    for n, (field, v) in enumerate(wanted.items()):
        some = [e for e in some if e[field] == v] if n else index(kind, field).get(v, [])
    return some


def named(kind, pattern):
    return [e for e in of(kind) if re.fullmatch(pattern, e.name)]


def total(some, field="value"):
    return sum(e[field] for e in some)


def at(kind, frame):
    """The events of a kind with a frame of this name."""
    return [e for e in of(kind) if frame in e.stack]


def for_itself(e, frame):
    """Whether the JVM caused it in `frame`, and not the frame's own code. It loads a class at its first use, and makes
    the string constants of a method that it is about to compile."""
    above = e.stack[:e.stack.index(frame)]
    return "java.lang.ClassLoader.loadClass" in above or any("CompileBroker" in f for f in above)


def own(kind, frame):
    """The events of a kind that a frame's own code caused."""
    return [e for e in at(kind, frame) if not for_itself(e, frame)]


def lost_by(pid):
    """A process's losses, as in `lost`; process 0: losses of no single process."""
    return [row[1:] for row in losses if (processes[row[0]].pid if row[0] else 0) == pid]


def error(some):
    """The standard error of the sum of their weights: each was sampled with the probability value / weight."""
    return math.sqrt(sum(e.weight * (e.weight - e["value"]) for e in some))


def close(estimated, true, percent, deviation=0):
    """Within `percent` percent, or within what chance exceeds once in a million runs."""
    return abs(estimated - true) <= max(true * percent / 100, 4.9 * deviation)


def as_long(some, told):
    """Whether the events are as long as the program's measures, within 2 percent. The program cannot distinguish times
    when it waits for a CPU, or works, from those when it is blocked: on a busy machine the sum of the events is smaller,
    but the median or the shortest ones are equal."""
    times, said = sorted(e.duration_ns for e in some), sorted(int(ns) for ns in told if int(ns) > 25e6)
    return len(times) > len(said) // 2 and (close(sum(times), sum(said), 2) or sum(times) <= sum(said) and
                                            (close(times[len(times) // 2], said[len(said) // 2], 2) or close(times[0], said[0], 2)))


def at_once(some):
    """Pairs of a thread's events that overlap."""
    pairs = []
    for tid in {e.thread.tid for e in some}:
        row = sorted((e for e in some if e.thread.tid == tid), key=lambda e: e.time_ns)
        pairs += [(a, b) for a, b in zip(row, row[1:]) if a.time_ns + a.duration_ns > b.time_ns]
    return [[(dict(e), e.stack) for e in pair] for pair in pairs]


def most(those):
    """A stack taken before the collector has a new JVM's layout lacks its Java names."""
    those = [bool(one) for one in those]
    return 2 * sum(those) > len(those)


def one(*words):
    """The number after these words of the truth."""
    return next(int(w[len(words) - 1]) for w in truth[words[0]] if tuple(w[: len(words) - 1]) == words[1:])


def by_thread(some):
    """Events by program and OS thread, which can be several Java threads in turn."""
    found = {}
    for e in some:
        if e.thread:  # of a virtual thread, there may be none
            found.setdefault((e.process.process, e.thread.tid), []).append(e)
    return found


# What each thread's time off the CPU is made of.
MINE = {"offcpu": by_thread(of("offcpu")), "counted": by_thread(of("counted", number=5))}

for what, expression in zip(sys.argv[2::2], sys.argv[3::2]):
    if what == "--names":
        print("\n".join(e.name for e in of(expression)))
        continue
    expression = " ".join(expression.split())
    if not eval(expression):  # an expression of the tests themselves
        print("%s: not true: %s" % (what, expression), file=sys.stderr)
        for part in re.split(r"\band\b", expression):
            try:
                if not eval(part):
                    left = re.split(r">=|<=|==|!=|>|<|\bin\b", part)
                    print("  not %s: %s is %.2000r" % (part.strip(), left[0].strip(), eval(left[0])), file=sys.stderr)
            except Exception:  # a part that has no meaning without its neighbours
                pass
        sys.exit(1)
