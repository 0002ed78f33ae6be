# SPDX-License-Identifier: Apache-2.0
"""same_code.py PID: prints how many bytes of its libjvm.so's code differ from the file."""
import sys

pid = sys.argv[1]
with open(f"/proc/{pid}/maps") as f:
    parts = [line.split() for line in f if line.rstrip().endswith("/libjvm.so")]
different = 0
for part in parts:
    if "x" not in part[1]:
        continue
    start, end = (int(word, 16) for word in part[0].split("-"))
    with open(f"/proc/{pid}/mem", "rb") as mem, open(f"/proc/{pid}/map_files/{part[0]}", "rb") as file:
        mem.seek(start)
        file.seek(int(part[2], 16))
        for at in range(0, end - start, 1 << 20):
            ours, theirs = mem.read(min(1 << 20, end - start - at)), file.read(min(1 << 20, end - start - at))
            if ours[:len(theirs)] != theirs:
                different += sum(a != b for a, b in zip(ours, theirs))
print(different)
