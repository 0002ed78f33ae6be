# SPDX-License-Identifier: Apache-2.0
"""A perf map: ascending ranges that do not overlap, whose names are frames of the collapsed stacks."""
import re

frames = {f for line in open("collapsed") for f in line.rsplit(" ", 1)[0].split(";")}
end, found = 0, 0
for line in open("map"):
    m = re.fullmatch(r"([0-9a-f]+) ([0-9a-f]+) (.+)\n", line)
    assert m, line
    start, size = int(m[1], 16), int(m[2], 16)
    assert start >= end and size, line
    end = start + size
    found += m[3].replace(";", ":") in frames
assert found, "no method of the samples"
