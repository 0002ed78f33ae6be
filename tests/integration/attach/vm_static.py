# SPDX-License-Identifier: Apache-2.0
"""vm_static.py PID SYMBOL [COUNT]: prints the 8 bytes of one of the JVM's static variables as a number; nothing when its libjvm
has no such symbol. With COUNT, the variable is a pointer, and as many numbers follow from where it points to."""
import re
import subprocess
import sys

pid, symbol, *count = sys.argv[1:]
with open(f"/proc/{pid}/maps") as f:
    # The mapping of the file's first byte.
    base, path = next((int(m[1], 16), m[2]) for m in
                      (re.match(r"([0-9a-f]+)-\S+ \S+ 0+ \S+ \S+\s+(/.*/libjvm\.so)$", line) for line in f) if m)
names = subprocess.run(["nm", f"/proc/{pid}/root{path}"], capture_output=True, text=True, check=False).stdout
found = re.search(rf"^([0-9a-f]+) \w {re.escape(symbol)}$", names, re.M)
if found:
    with open(f"/proc/{pid}/mem", "rb") as f:
        f.seek(base + int(found[1], 16))
        value = int.from_bytes(f.read(8), "little")
        print(value)
        for _ in range(int(count[0]) if count and f.seek(value) else 0):
            print(int.from_bytes(f.read(8), "little"))
