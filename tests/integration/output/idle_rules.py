# SPDX-License-Identifier: Apache-2.0
"""idle_rules.py ROOT: docs/idle.md has the rules of idle.c, each with its kind, and no others."""
import re
import sys

source = open(sys.argv[1] + "/userspace/analyze/idle.c").read()
page = open(sys.argv[1] + "/docs/idle.md").read()


def strings(declaration):
    begin = source.index(declaration)
    return set(re.findall(r'"([^"]*)"', re.sub(r"/\*.*?\*/", "", source[begin : source.index("};", begin)], flags=re.S)))


def in_row(*cells):
    rows = re.findall(r"^\| (?:[^|]*\| )*?" + re.escape(" | ".join(cells)) + r" \| (`.*`) \|$", page, re.M)
    return {name for row in rows for name in re.findall(r"`([^`]*)`", row)}


frames = re.findall(r'\{"([^"]*)", IDLE_(\w+)\}', source)
assert len(frames) > 60, frames
for rule in ("waits", "own", "loop", "select", "work"):
    has = {name for name, of in frames if of.lower() == rule}
    assert has and in_row(rule) == has, (rule, in_row(rule) ^ has)
for row, declaration in (
    ("native", "vm_threads[] = {"),
    ("Java", "java_threads[] = {"),
    ("Java, if the wait has not ended and the stack is not known", "names[] = {"),
):
    has = strings(declaration)
    assert has and in_row(row) == has, (row, in_row(row) ^ has)
