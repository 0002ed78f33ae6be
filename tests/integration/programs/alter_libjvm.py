# SPDX-License-Identifier: Apache-2.0
"""alter_libjvm.py PID [stride|threads]: changes the tables of a process's libjvm.so in its memory, as a process can do to its own.

Afterwards every VM operation has the name of the first one, and the fields of CompileTask have other offsets; with
`stride` the tables cannot be read at all. With `threads` only the list of Java threads has another name. Exit status 1: the library has no such tables.
"""
import re
import struct
import subprocess
import sys

pid = sys.argv[1]
with open(f"/proc/{pid}/maps") as f:
    lines = [line.split() for line in f]
base, path = next((int(line[0].split("-")[0], 16), line[5]) for line in lines if line[-1].endswith("/libjvm.so"))
symbols = {}
for args in (["-S"], ["-D", "-S"]):
    for line in subprocess.run(["nm", *args, path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout.splitlines():
        words = line.split()
        if len(words) == 4:
            symbols[words[3].split("@")[0]] = (int(words[0], 16), int(words[1], 16))
mem = open(f"/proc/{pid}/mem", "r+b", buffering=0)


def read(at, size=8):
    mem.seek(at)
    return mem.read(size)


def word(at):
    return struct.unpack("<Q", read(at))[0]


def variable(name):
    return word(base + symbols[name][0])


def text(at):
    return re.match(rb"[^\0]*", read(at, 64)).group().decode()


def entries():
    at, stride = variable("gHotSpotVMStructs"), variable("gHotSpotVMStructEntryArrayStride")
    type_at = variable("gHotSpotVMStructEntryTypeNameOffset")
    while word(at + type_at):
        yield at
        at += stride


if sys.argv[2:] == ["threads"]:
    name_at = variable("gHotSpotVMStructEntryFieldNameOffset")
    names = [word(e + name_at) for e in entries() if text(word(e + name_at)) in ("_java_thread_list", "_thread_list")]
    for name in names:
        mem.seek(name)
        mem.write(b"?")
    sys.exit(0 if names else 1)

operations = symbols.get("_ZN12VM_Operation6_namesE")
if not operations:
    sys.exit(1)
at, size = base + operations[0], operations[1]
mem.seek(at)
mem.write(struct.pack("<Q", word(at)) * (size // 8))

if sys.argv[2:] == ["stride"]:
    mem.seek(base + symbols["gHotSpotVMStructEntryArrayStride"][0])
    mem.write(struct.pack("<Q", 1 << 40))
    sys.exit(0)

type_at, offset_at = (variable(f"gHotSpotVMStructEntry{what}Offset") for what in ("TypeName", "Offset"))
changed = 0
for entry in entries():
    if text(word(entry + type_at)) == "CompileTask":
        mem.seek(entry + offset_at)
        mem.write(struct.pack("<Q", 8))
        changed += 1
sys.exit(0 if changed else 1)
