# SPDX-License-Identifier: Apache-2.0
"""filters.py BRAID TRACE: parts that a selection makes must add up to the whole, which TRACE.json has."""
import json
import subprocess
import sys

braid, trace = sys.argv[1:]
whole = json.load(open(trace + ".json"))
everything = whole["samples"]["total"]


def stacks(*words):
    out = subprocess.run([braid, "export", "--format", "collapsed", *words, trace], check=True, capture_output=True, text=True)
    return [(s.split(";"), int(n)) for s, n in (line.rsplit(" ", 1) for line in out.stdout.splitlines())]


def count(*words):
    n = sum(n for _, n in stacks(*words))
    report = json.loads(subprocess.run([braid, "report", "--json", *words, trace], check=True, capture_output=True).stdout)
    assert report["samples"]["total"] == n, ("report and export differ", words)
    return n


assert count() == everything > 0
old = [t for t in whole["threads"] if t["name"] == "old-0"][0]
assert count("--tid", str(old["tid"])) == old["samples"] > 0
assert count("--comm", "old-0") == old["samples"]
both = sum(t["samples"] for t in whole["threads"] if t["name"] in ("old-0", "old-1"))
assert count("--comm", "old-0", "--comm", "old-1") == both
assert count("--tid", ",".join(str(t["tid"]) for t in whole["threads"] if t["name"] in ("old-0", "old-1"))) == both
assert count("--pid", str(old["pid"])) == sum(t["samples"] for t in whole["threads"] if t["pid"] == old["pid"])
assert count("--pid", "1") == sum(t["samples"] for t in whole["threads"] if t["pid"] == 1)

matching = sum(n for s, n in stacks() if any("spin" in f for f in s))
assert count("--include", "spin") == matching > 0
assert count("--exclude", "spin") == everything - matching
assert count("--include", "^Worker\\.(alpha|threads)$", "--exclude", "^Worker\\.spin$") == sum(
    n for s, n in stacks() if ("Worker.alpha" in s or "Worker.threads" in s) and "Worker.spin" not in s)
assert count("--include", "no such frame") == 0

middle = whole["duration_s"] / 2
first, second = count("--to", "%.3f" % middle), count("--from", "%.3f" % middle)
assert first > 0 and second > 0
assert everything <= first + second <= everything + 2, (first, second, everything)  # a sample may be right on the border
assert count("--from", "%dms" % (middle * 1000), "--to", "%.3f" % middle) <= 2
assert count("--from", "0", "--to", "1000m") == everything

top = json.loads(subprocess.run([braid, "report", "--json", "--top", "3", trace], check=True, capture_output=True).stdout)
assert len(top["methods"]) == 3 and top["methods"] == whole["methods"][:3]
assert len(stacks("--top", "2")) == 2
