# SPDX-License-Identifier: Apache-2.0
"""A reader of JFR files that knows only their layout: chunks that describe themselves."""
import struct
import sys


class Bytes:
    def __init__(self, data, at=0):
        self.data = data
        self.at = at

    def varint(self):
        value = 0
        for i in range(9):
            byte = self.data[self.at]
            self.at += 1
            if i == 8:  # the ninth byte has eight bits of the number
                return value | byte << 56
            value |= (byte & 0x7f) << 7 * i
            if byte < 0x80:
                return value

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def string(self):
        """A string, or ("ref", key) for one in the pool of strings."""
        encoding = self.byte()
        if encoding == 0:
            return None
        if encoding == 1:
            return ""
        if encoding == 2:
            return ("ref", self.varint())
        if encoding == 4:
            return "".join(chr(self.varint()) for _ in range(self.varint()))
        length = self.varint()
        self.at += length
        return self.data[self.at - length:self.at].decode({3: "utf-8", 5: "latin-1"}[encoding])


def signed(value):
    return value - (1 << 64) if value >> 63 else value


class Chunk:
    """events: a list of (type name, {field: value}), with values of pools in the place of their keys."""

    def __init__(self, data):
        (magic, self.major, self.minor, self.size, self.pools_at, self.metadata_at, self.start_ns, self.duration_ns,
         self.start_ticks, self.ticks_per_second, self.features) = struct.unpack(">4sHHqqqqqqqI", data[:68])
        assert magic == b"FLR\0", magic
        self.data = data[:self.size]
        self.types, self.by_name, self.pools, self.events = {}, {}, {}, []
        self.read_metadata()
        self.read_pools()
        self.read_events()

    def read_metadata(self):
        b = Bytes(self.data, self.metadata_at)
        self.metadata_size, kind = b.varint(), b.varint()
        assert kind == 0, kind
        b.varint(), b.varint(), b.varint()
        strings = [b.string() for _ in range(b.varint())]

        def element():
            name = strings[b.varint()]
            attributes = {strings[b.varint()]: strings[b.varint()] for _ in range(b.varint())}
            return name, attributes, [element() for _ in range(b.varint())]

        self.root = element()
        assert b.at == self.metadata_at + self.metadata_size
        metadata = next(e for e in self.root[2] if e[0] == "metadata")
        for _, attributes, children in metadata[2]:
            fields = [(c[1]["name"], int(c[1]["class"]), c[1].get("constantPool") == "true",
                       int(c[1].get("dimension", 0))) for c in children if c[0] == "field"]
            self.types[int(attributes["id"])] = (attributes["name"], fields, attributes.get("superType"))
            self.by_name[attributes["name"]] = int(attributes["id"])
        frame = [f[0] for f in self.types[self.by_name["jdk.types.StackFrame"]][1]]
        assert frame == ["method", "lineNumber", "bytecodeIndex", "type"], f"Mission Control wants four: {frame}"

    def value(self, b, kind):
        name, fields, _ = self.types[kind]
        if name in ("long", "int", "short", "char"):
            return signed(b.varint())
        if name in ("boolean", "byte"):
            return b.byte()
        if name in ("float", "double"):
            size = 4 if name == "float" else 8
            b.at += size
            return struct.unpack(">f" if size == 4 else ">d", b.data[b.at - size:b.at])[0]
        if name == "java.lang.String":
            return b.string()
        return self.fields(b, fields)

    def fields(self, b, fields):
        def one(kind, pooled):
            return ("pool", kind, b.varint()) if pooled else self.value(b, kind)

        return {name: [one(kind, pooled) for _ in range(b.varint())] if dimension else one(kind, pooled)
                for name, kind, pooled, dimension in fields}

    def read_pools(self):
        at = self.pools_at
        while True:
            b = Bytes(self.data, at)
            size, kind = b.varint(), b.varint()
            assert kind == 1, kind
            b.varint(), b.varint()
            delta = signed(b.varint())
            b.byte()
            for _ in range(b.varint()):
                of, pool, count = b.varint(), {}, b.varint()
                assert count, "the JDK refuses empty pools"
                for _ in range(count):
                    key = b.varint()
                    pool[key] = self.value(b, of)
                self.pools.setdefault(of, {}).update(pool)
            assert b.at == at + size
            if not delta:
                return
            at += delta

    def resolve(self, value):
        if isinstance(value, tuple) and value[0] == "ref":
            return self.pools[self.by_name["java.lang.String"]][value[1]]
        if isinstance(value, tuple) and value[0] == "pool":
            if value[2] == 0:
                return None
            return self.resolve(self.pools[value[1]][value[2]])
        if isinstance(value, dict):
            resolved = {k: self.resolve(v) for k, v in value.items()}
            return next(iter(resolved.values())) if len(resolved) == 1 else resolved
        if isinstance(value, list):
            return [self.resolve(v) for v in value]
        return value

    def read_events(self):
        at = 68
        while at < self.size:
            b = Bytes(self.data, at)
            size, kind = b.varint(), b.varint()
            assert size > 0
            if kind > 1:
                name, fields, parent = self.types[kind]
                assert parent == "jdk.jfr.Event", name
                self.events.append((name, self.fields(b, fields)))
                assert b.at == at + size, name
            at += size
        assert at == self.size


def chunks(path):
    with open(path, "rb") as f:
        data = f.read()
    while data:
        chunk = Chunk(data)
        yield chunk
        data = data[chunk.size:]


if __name__ == "__main__":
    for c in chunks(sys.argv[1]):
        print(c.major, c.minor, c.size, c.start_ns, c.duration_ns, c.start_ticks, c.ticks_per_second, hex(c.features))
        for event, values in c.events:
            if len(sys.argv) < 3 or event in sys.argv[2:]:
                print(event, c.resolve(values))
