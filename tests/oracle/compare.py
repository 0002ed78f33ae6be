#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py BRAID TRACE LOG [--show N] [--json FILE]: compares the Java frames of the trace's stacks with the oracle's
log.

From leaf to root, class, method, signature, byte code index and line, where known, must be equal, inlined frames
included. The exit status is 1 when anything differs, and 2 when nothing was compared. Stacks from before the first
one with a Java frame are counted separately, as early: the collector had not yet read this JVM's layout.
"""
import argparse
import bisect
import collections
import json
import re
import struct
import subprocess
import sys

NATIVE = 0x100
CODE_CACHE, INTERPRETED, END = 1, 2, 3
FIELD = re.compile(r' (\w+)=("(?:[^"\\]|\\.)*"|\[[^\]]*\]|\S+)')


# ---- what the trace says ----

class Trace:
    def __init__(self, braid, path):
        self.methods, self.lines, self.codes, self.frames, self.nodes = {}, {}, {}, {}, {}
        self.tids, self.samples, self.losses, self.paths = {}, collections.defaultdict(list), [], {}
        kinds = {"method": self.method, "lines": self.line, "code": self.code, "frame": self.frame, "node": self.node,
                 "thread": self.thread, "sample": self.sample, "loss": self.loss}
        with subprocess.Popen([braid, "script", "--raw", path], stdout=subprocess.PIPE, text=True,
                              errors="replace") as p:
            for line in p.stdout:
                take = kinds.get(line[:line.find(" ")])
                if take:
                    take(dict(FIELD.findall(line)))
        if p.returncode:
            sys.exit("compare.py: cannot read " + path)
        for some in self.samples.values():
            some.sort()

    def method(self, r):
        name = [r[k][1:-1] for k in ("class_name", "name", "signature")]
        self.methods[int(r["method"])] = (name[0].replace("/", "."), name[1], name[2], int(r["modifiers"], 0))

    def line(self, r):
        pairs = [p.split(":") for p in r["lines"][1:-1].split(",") if p]
        self.lines[int(r["method"])] = ([int(b) for b, _ in pairs], [int(l) for _, l in pairs])

    def code(self, r):
        self.codes[int(r["code"])] = (int(r["kind"]), int(r["method"]), int(r["tier"]), r["name"][1:-1])

    def frame(self, r):
        scopes = [s.split(":") for s in r["scopes"][1:-1].split(",") if s]
        self.frames[int(r["frame"])] = (int(r["kind"]), int(r["code"]), [(int(m), int(b)) for m, b in scopes],
                                        int(r["address"], 0), int(r["exact"]))

    def node(self, r):
        self.nodes[int(r["node"])] = (int(r["parent"]), int(r["frame"]))

    def thread(self, r):
        self.tids[int(r["thread"])] = int(r["ns_tid"])

    def sample(self, r):
        self.samples[self.tids.get(int(r["thread"]), 0)].append((int(r["time_ns"]), int(r["node"])))

    def loss(self, r):
        self.losses.append((r["hop"], r["kind"], int(r["count"])))

    def java(self, node):
        """[(method, bci, kind)] from the leaf, and whether the stack is whole."""
        if node not in self.paths:
            out, whole, at = [], True, node
            while at:
                at, frame = self.nodes[at]
                out.extend(self.expand(self.frames[frame]))
                whole = whole and self.frames[frame][0] != END
            self.paths[node] = (out, whole and node != 0)
        return self.paths[node]

    def expand(self, frame):
        kind, code, scopes, address, exact = frame
        if kind == INTERPRETED:
            return [(m, b, "interpreted") for m, b in scopes] or [(0, -1, "interpreted")]
        if kind != CODE_CACHE:
            return []
        is_stub, method, tier, _ = self.codes.get(code, (0, 0, 0, ""))
        if is_stub:
            return []
        what = "tier %d at 0x%x%s" % (tier, address, " exact" if exact else "")
        if not scopes:
            return [(method, -1, what)]
        last = len(scopes) - 1
        return [(m or method if i == last else m, b, what if i == last else "inlined") for i, (m, b) in
                enumerate(scopes)]

    def line_of(self, method, bci):
        bcis, lines = self.lines.get(method, ([], []))
        at = bisect.bisect_right(bcis, bci)
        return lines[at - 1] if at else 0


# ---- what the oracle says ----

def class_of(signature):
    """LFoo$$Lambda.0x1; as a name. Before JDK 15, LFoo$$Lambda/123; has the hash code of the class's mirror, which is not part
    of any name in the VM: braid leaves it out."""
    return re.sub(r"/[0-9]+$", "", signature[1:-1]).replace("/", ".")


class Log:
    def __init__(self, path):
        self.methods, self.stacks, self.moments = {}, [], {}
        with open(path, "rb") as f:
            data = f.read()
        at = 0
        while at < len(data):
            size, kind = struct.unpack_from("<II", data, at)
            if kind == 1:
                self.stack(data, at + 8)
            elif kind == 2:
                self.method(data, at + 8)
            else:
                number, = struct.unpack_from("<I", data, at + 8)
                self.moments[number] = data[at + 12:at + size].split(b"\0")[0].decode()
            at += size

    def stack(self, data, at):
        moment, tid, before, after, count, _ = struct.unpack_from("<IIQQII", data, at)
        frames = [struct.unpack_from("<Qq", data, at + 32 + 16 * i) for i in range(count)]
        self.stacks.append((moment, tid, before, after, frames))

    def method(self, data, at):
        method, modifiers, line_count, a, b, c, _ = struct.unpack_from("<QIIHHHH", data, at)
        at += 24
        pairs = sorted(struct.unpack_from("<II", data, at + 8 * i) for i in range(line_count))
        at += 8 * line_count
        text = data[at:at + a + b + c].decode("utf-8", "replace")
        self.methods[method] = (class_of(text[:a]), text[a:a + b], text[a + b:], modifiers,
                                [p[0] for p in pairs], [p[1] for p in pairs])


# ---- the comparison ----

class Comparison:
    def __init__(self, trace, log):
        self.trace, self.log = trace, log
        self.compared, self.frames, self.early, self.deepest = 0, 0, 0, 0
        self.moments, self.tiers = collections.Counter(), collections.Counter()
        self.wrong, self.shown = collections.Counter(), []
        self.known_ns = min((time for some in trace.samples.values() for time, node in some if trace.java(node)[0]),
                            default=0)
        for stack in log.stacks:
            self.stack(stack)

    def sample_of(self, tid, before, after, suspended):
        """The sample within the call; for a suspended thread, the one at which it left its CPU."""
        some = self.trace.samples.get(tid, [])
        last = bisect.bisect_right(some, (after, 1 << 62))
        first = bisect.bisect_left(some, (before, 0))
        if suspended:
            return some[last - 1] if last else None
        return some[first] if last - first == 1 else None

    def stack(self, stack):
        moment, tid, before, after, frames = stack
        name = self.log.moments[moment]
        sample = self.sample_of(tid, before, after, name == "suspended")
        if not sample:
            self.differs("no sample", name, stack, [], None)
            return
        if sample[0] < self.known_ns:
            self.early += 1
            return
        java, whole = self.trace.java(sample[1])
        self.compared += 1
        self.moments[name] += 1
        self.frames += len(frames)
        self.deepest = max(self.deepest, len(frames))
        for _, _, what in java:
            self.tiers[re.sub(" at.*", "", what)] += 1
        if not whole:
            self.differs("incomplete", name, stack, java, None)
            return
        for i, (ours, theirs) in enumerate(zip(java, frames)):
            kind = self.frame_differs(ours, theirs)
            if kind:
                self.differs(kind, name, stack, java, i)
                return
        if len(java) != len(frames):
            self.differs("more frames" if len(java) > len(frames) else "fewer frames", name, stack, java,
                         min(len(java), len(frames)))

    def frame_differs(self, ours, theirs):
        mine, his = self.trace.methods.get(ours[0]), self.log.methods[theirs[0]]
        if not mine:
            return "no name"
        if mine[:3] != his[:3]:
            return "method"
        if his[3] & NATIVE:
            return None if theirs[1] == -1 and mine[3] & NATIVE else "native"
        if ours[1] != theirs[1]:
            return "bci"
        line = self.line_of(his, theirs[1])
        # 0: not known, because the method's line numbers were not in memory at the sample; that is no wrong line.
        return "line" if self.trace.line_of(ours[0], ours[1]) not in (line, 0) else None

    @staticmethod
    def line_of(his, bci):
        at = bisect.bisect_right(his[4], bci)
        return his[5][at - 1] if at else 0

    def differs(self, kind, moment, stack, java, where):
        self.wrong[kind] += 1
        self.shown.append((kind, moment, stack, java, where))

    def show(self, most):
        kinds = collections.Counter()
        for kind, moment, (_, tid, before, _, frames), java, where in self.shown:
            kinds[kind] += 1
            if kinds[kind] > most:
                continue
            print("%s: at %s, thread %d, %d.%09d" % (kind, moment, tid, before // 10**9, before % 10**9))
            low = max(0, (where or 0) - 4)
            for i in range(low, min(max(len(frames), len(java)), low + 12)):
                self.show_frame(i, java[i] if i < len(java) else None, frames[i] if i < len(frames) else None,
                                i == where)

    def show_frame(self, i, ours, theirs, here):
        mine, his = "-", "-"
        if ours:
            m = self.trace.methods.get(ours[0], ("?", "?", "?"))
            mine = "%s.%s%s @%d line %d (%s)" % (m[0], m[1], m[2], ours[1], self.trace.line_of(ours[0], ours[1]), ours[2])
        if theirs:
            m = self.log.methods[theirs[0]]
            his = "%s.%s%s @%d line %d%s" % (m[0], m[1], m[2], theirs[1], self.line_of(m, theirs[1]),
                                             " native" if m[3] & NATIVE else "")
        print("%s %3d braid  %s\n      JVM TI %s" % (">>" if here else "  ", i, mine, his))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("braid")
    p.add_argument("trace")
    p.add_argument("log")
    p.add_argument("--show", type=int, default=2, help="mismatches of each kind to print")
    p.add_argument("--json", help="where the figures go")
    a = p.parse_args()
    trace, log = Trace(a.braid, a.trace), Log(a.log)
    c = Comparison(trace, log)
    c.show(a.show)
    print("compared %d, early %d, frames %d, deepest %d, differ %d %s, lost %s" % (
        c.compared, c.early, c.frames, c.deepest, sum(c.wrong.values()), dict(c.wrong), trace.losses))
    print("moments %s\nframes %s" % (dict(c.moments), dict(c.tiers)))
    if a.json:
        with open(a.json, "w") as f:
            json.dump({"compared": c.compared, "early": c.early, "frames": c.frames, "deepest": c.deepest, "wrong": c.wrong,
                       "moments": c.moments, "kinds": c.tiers, "lost": trace.losses}, f)
    sys.exit(1 if c.wrong else 2 if not c.compared else 0)


if __name__ == "__main__":
    main()
