# SPDX-License-Identifier: Apache-2.0
"""Reads heap dumps in the format HPROF, whole, for tests. It takes nothing for granted that the format does not say."""
import gzip
import io
import struct
import subprocess
import sys
from collections import Counter

SIZES = {2: 8, 4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
FORMATS = {4: ">?", 5: ">H", 6: ">f", 7: ">d", 8: ">b", 9: ">h", 10: ">i", 11: ">q"}
PRIMITIVES = {4: "boolean", 5: "char", 6: "float", 7: "double", 8: "byte", 9: "short", 10: "int", 11: "long"}
LETTERS = {4: "Z", 5: "C", 6: "F", 7: "D", 8: "B", 9: "S", 10: "I", 11: "J"}


class Class:
    """A class: its name, fields [(name, type)], statics {name: (type, value)}, and the ids of what it refers to."""

    def __init__(self, name):
        self.name = name
        self.super = self.loader = self.signers = self.domain = 0
        self.size = 0
        self.statics = {}
        self.fields = []
        self.dumped = False


class Dump:
    """All of a dump in memory. `instances`: id to (class id, bytes); `arrays`: id to (class id, ids); `values`: id to
    (type, count, bytes); `roots`: list of (kind, id, thread, frame)."""

    def __init__(self, path):
        self.names, self.classes, self.frames, self.traces = {}, {}, {}, {}
        self.instances, self.arrays, self.values = {}, {}, {}
        self.roots, self.threads, self.serials = [], {}, {}
        self.ended = False
        with open_dump(path) as f:
            self.read(f)

    def read(self, f):
        version = b""
        while not version.endswith(b"\0"):
            version += f.read(1)
        assert version == b"JAVA PROFILE 1.0.2\0", version
        assert struct.unpack(">IQ", f.read(12))[0] == 8
        while head := f.read(9):
            assert not self.ended, "a record after the end"
            tag, _, length = struct.unpack(">BII", head)
            body = f.read(length)
            assert len(body) == length, "the file ends within a record"
            self.record(tag, body)

    def record(self, tag, b):
        if tag == 1:
            self.names[struct.unpack_from(">Q", b)[0]] = b[8:].replace(b"\xc0\x80", b"\0").decode("utf-8", "surrogatepass")
        elif tag == 2:
            serial, ident, _, name = struct.unpack(">IQIQ", b)
            self.classes[ident] = Class(self.names[name])
            self.serials[serial] = ident
        elif tag == 4:
            ident, method, signature, source, serial, line = struct.unpack(">QQQQIi", b)
            self.frames[ident] = (self.classes[self.serials[serial]].name, self.names[method], self.names[signature],
                                  self.names.get(source, ""), line)
        elif tag == 5:
            serial, thread, count = struct.unpack_from(">III", b)
            self.traces[serial] = (thread, struct.unpack_from(f">{count}Q", b, 12))
        elif tag == 0x2c:
            self.ended = True
        elif tag in (0x0c, 0x1c):
            self.segment(memoryview(b))

    def segment(self, b):
        at = 0
        while at < len(b):
            at = self.entry(b, at + 1, b[at])
        assert at == len(b), "a segment ends within an entry"

    def entry(self, b, at, tag):
        if tag in (0xff, 5, 7, 6):
            self.roots.append((tag, struct.unpack_from(">Q", b, at)[0], 0, 0))
            return at + (12 if tag == 6 else 8)
        if tag == 1:
            self.roots.append((tag, struct.unpack_from(">Q", b, at)[0], 0, 0))
            return at + 16
        if tag in (2, 3, 8):
            ident, thread, frame = struct.unpack_from(">QIi", b, at)
            self.roots.append((tag, ident, thread, frame))
            if tag == 8:
                self.threads[thread] = (ident, frame)
            return at + 16
        if tag == 4:
            self.roots.append((tag, *struct.unpack_from(">QI", b, at), 0))
            return at + 12
        if tag == 0x20:
            return self.class_entry(b, at)
        ident, = struct.unpack_from(">Q", b, at)
        assert ident not in self.instances and ident not in self.arrays and ident not in self.values, hex(ident)
        if tag == 0x21:
            _, klass, n = struct.unpack_from(">IQI", b, at + 8)
            self.instances[ident] = (klass, bytes(b[at + 24:at + 24 + n]))
            return at + 24 + n
        if tag == 0x22:
            _, n, klass = struct.unpack_from(">IIQ", b, at + 8)
            self.arrays[ident] = (klass, struct.unpack_from(f">{n}Q", b, at + 24))
            return at + 24 + 8 * n
        assert tag == 0x23, f"entry {tag:#x}"
        _, n, kind = struct.unpack_from(">IIB", b, at + 8)
        self.values[ident] = (kind, n, bytes(b[at + 17:at + 17 + n * SIZES[kind]]))
        return at + 17 + n * SIZES[kind]

    def class_entry(self, b, at):
        ident, _, sup, loader, signers, domain, _, _, size, constants = struct.unpack_from(">QIQQQQQQIH", b, at)
        c = self.classes[ident]
        assert not c.dumped, c.name
        c.dumped, c.super, c.loader, c.signers, c.domain, c.size = True, sup, loader, signers, domain, size
        assert constants == 0
        at += 66
        count, = struct.unpack_from(">H", b, at)
        at += 2
        for _ in range(count):
            name, kind = struct.unpack_from(">QB", b, at)
            c.statics[self.names[name]] = (kind, value(b, at + 9, kind))
            at += 9 + SIZES[kind]
        count, = struct.unpack_from(">H", b, at)
        at += 2
        for _ in range(count):
            name, kind = struct.unpack_from(">QB", b, at)
            c.fields.append((self.names[name], kind))
            at += 9
        return at

    # ---- questions ----

    def class_of(self, ident):
        """The name of an object's class; of a class, "class NAME"."""
        if ident in self.instances:
            return self.classes[self.instances[ident][0]].name
        if ident in self.arrays:
            return self.classes[self.arrays[ident][0]].name
        if ident in self.values:
            return "[" + LETTERS[self.values[ident][0]]
        if ident in self.classes:
            return "class " + self.classes[ident].name
        return "nothing"

    def fields(self, ident):
        """The fields of an instance: [(class, name, type, value)]."""
        klass, data = self.instances[ident]
        at, all_of = 0, []
        while klass:
            c = self.classes[klass]
            for name, kind in c.fields:
                all_of.append((c.name, name, kind, value(data, at, kind)))
                at += SIZES[kind]
            klass = c.super
        assert at == len(data), (self.class_of(ident), at, len(data))
        return all_of

    def get(self, ident, name):
        return next(v for _, n, _, v in self.fields(ident) if n == name)

    def string(self, ident):
        """The text of a String."""
        data = self.values[self.get(ident, "value")]
        if data[0] == 5:
            return data[2].decode("utf-16-be")
        return data[2].decode("latin-1" if self.get(ident, "coder") == 0 else "utf-16-le")

    def references(self, ident):
        """[(field, id)] of an object or class, without null."""
        found = []
        if ident in self.instances:
            found = [(f"{c}.{n}", v) for c, n, kind, v in self.fields(ident) if kind == 2]
        elif ident in self.arrays:
            found = [("[]", v) for v in self.arrays[ident][1]]
        elif ident in self.classes:
            c = self.classes[ident]
            found = [(n, v) for n, (kind, v) in c.statics.items() if kind == 2]
            found += [("super", c.super), ("loader", c.loader), ("signers", c.signers), ("domain", c.domain)]
        return [(n, v) for n, v in found if v]

    def reachable(self, without=()):
        """The ids of objects and classes that can be reached, not by way of the objects `without`: from the roots, from
        classes, and from threads, of which the VM hides some."""
        seen = set(without)
        todo = [r[1] for r in self.roots] + [i for i, c in self.classes.items() if c.dumped]
        todo += [i for i in self.instances if self.class_of(i) == "java/lang/Thread"]
        while todo:
            i = todo.pop()
            if i in seen:
                continue
            seen.add(i)
            todo += [v for _, v in self.references(i)]
            if holder := self.instances.get(i) or self.arrays.get(i):
                todo.append(holder[0])
        return seen - set(without)

    def thread(self, name):
        """The id of the thread of that name; None: there is none."""
        return next((i for i, _ in self.threads.values() if self.string(self.get(i, "name")) == name), None)

    def summary(self, without=()):
        """Of what can be reached: (objects by class, references by (class, field, class)), without the fields that
        dumpers add and the VM's lists."""
        objects, edges = Counter(), Counter()
        for i in self.reachable(without):
            name = self.class_of(i)
            if i not in self.classes:
                objects[name] += 1
            for field, v in self.references(i):
                if not field.startswith("<") and field != "init_lock" and v not in without:
                    edges[(name, field, self.class_of(v))] += 1
        return objects, edges

    def frame_roots(self):
        """The objects that threads' frames hold: (thread, frame, class) and how many of them."""
        names = {t: self.string(self.get(i, "name")) for t, (i, _) in self.threads.items()}
        return Counter((names[t], frame, self.class_of(i)) for kind, i, t, frame in self.roots if kind == 3)

    def stacks(self):
        """By thread name the frames, from the innermost on: [(class, method, signature, source, line)]."""
        found = {}
        for ident, trace in self.threads.values():
            found[self.string(self.get(ident, "name"))] = [self.frames[f] for f in self.traces[trace][1]]
        return found


def value(b, at, kind):
    return struct.unpack_from(">Q", b, at)[0] if kind == 2 else struct.unpack_from(FORMATS[kind], b, at)[0]


def open_dump(path):
    if path.endswith(".gz"):
        return gzip.open(path, "rb")
    if path.endswith(".zst"):
        return io.BytesIO(subprocess.run(["zstd", "-dcq", path], check=True, capture_output=True).stdout)
    return open(path, "rb")


def differences(theirs, ours):
    """Prints how what can be reached differs, each as (objects by class, references, classes, ...) with names, and whether
    it does not. jcmd also writes what fills gaps, and archived objects."""
    for objects in (theirs["objects"], ours["objects"]):
        # int[0], the lock of a class's initialisation, is known by a field that not every dumper writes. The VM's lists
        # of where archived classes are from are roots that the dumper of JDK 11 does not write.
        for name in ("[I", "[Ljava/util/jar/Manifest;", "[Ljava/net/URL;", "[Ljava/security/ProtectionDomain;"):
            del objects[name]
    # jcmd writes references to archived classes that are not loaded.
    del theirs["objects"]["nothing"]
    for k in [k for k in theirs["references"] if k[2] == "nothing"]:
        del theirs["references"][k]
    same = True
    for what, a in theirs.items():
        b = ours[what]
        for k in a.keys() | b.keys():
            if a[k] != b[k]:
                print(what, k, "jcmd", a[k], "braid", b[k])
                same = False
    return same


def compare(jcmd, braid):
    """Prints how a dump of `jcmd GC.heap_dump` and one of braid differ, of the same program, which does nothing. Only
    what can be reached counts. The agent's thread is braid's."""
    theirs, ours = Dump(jcmd), Dump(braid)
    agent = ours.thread("braid agent")
    same = ours.ended
    lost = {v for i in ours.reachable() for _, v in ours.references(i)} | {r[1] for r in ours.roots}
    lost = [v for v in lost if ours.class_of(v) == "nothing"]
    if lost or not agent:
        print("references that lead nowhere:", len(lost), "the agent's thread:", agent)
        same = False
    counts = []
    for dump, without in ((theirs, ()), (ours, [agent])):
        objects, edges = dump.summary(without)
        counts.append({"objects": objects, "references": edges, "held by frames": dump.frame_roots(),
                       "classes": Counter(c.name for c in dump.classes.values() if c.dumped)})
    same = differences(*counts) and same
    their_stacks, our_stacks = theirs.stacks(), ours.stacks()
    for name, frames in their_stacks.items():
        if our_stacks.get(name) != frames:
            print("stack of", name, "jcmd", frames, "braid", our_stacks.get(name), sep="\n  ")
            same = False
    print(sum(counts[1]["objects"].values()), "objects", sum(counts[1]["references"].values()), "references", len(our_stacks), "threads")
    return same


def compare_counts(jcmd, braid, writer="braid"):
    """The same of what hprof_counts.c has found in two dumps. The agent has no thread while the JVM writes one ("JVM")."""
    theirs, ours = ({what: Counter() for what in ("objects", "references", "classes", "lost", "agent")} for _ in range(2))
    for path, counts in ((jcmd, theirs), (braid, ours)):
        with open(path) as f:
            for line in f:
                what, *key, count = line.rstrip("\n").split("\t")
                counts[what][key[0] if len(key) == 1 else tuple(key)] += int(count)
    agents, lost = ours.pop("agent")[""], ours.pop("lost")[""]
    same = agents == (writer == "braid") and not lost
    if not same:
        print("references that lead nowhere:", lost, "threads of the agent:", agents)
    del theirs["agent"], theirs["lost"]
    same = differences(theirs, ours) and same
    print(sum(ours["objects"].values()), "objects", sum(ours["references"].values()), "references", sum(ours["classes"].values()), "classes")
    return same


if __name__ == "__main__":
    same = compare_counts(*sys.argv[2:]) if sys.argv[1] == "--counts" else compare(*sys.argv[1:3])
    sys.exit(0 if same else 1)
