# SPDX-License-Identifier: Apache-2.0
"""Prints the files of a process whose data has addresses of the agent's code: slots that lead to its hooks."""
import struct
import sys

PID = sys.argv[1]
code, data, found = [], [], set()
for line in open("/proc/%s/maps" % PID):
    words = line.split(None, 5)
    path = words[5].strip() if len(words) == 6 else ""
    low, high = (int(a, 16) for a in words[0].split("-"))
    if "/libbraid-agent.so" in path:  # "(deleted)" follows
        code += [(low, high)] if "x" in words[1] else []
    elif path.startswith("/") and words[1] in ("rw-p", "r--p"):
        data.append((low, high, path))
with open("/proc/%s/mem" % PID, "rb", 0) as memory:
    for low, high, path in data:
        memory.seek(low)
        try:
            content = memory.read(high - low)
        except OSError:  # beyond the end of the file
            continue
        words = struct.unpack("<%dQ" % (len(content) // 8), content[: len(content) // 8 * 8])
        if any(begin <= word < end for word in words for begin, end in code):
            found.add(path)
print("\n".join(sorted(found)))
