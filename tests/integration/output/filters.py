# SPDX-License-Identifier: Apache-2.0
"""filters.py BRAID TRACE: the parts that a selection makes must add up to the whole, which is in TRACE.json."""
import datetime
import json
import re
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

matching = sum(n for s, n in stacks() if any("spin" in f for f in s))
assert count("--include", "spin") == matching > 0
assert count("--exclude", "spin") == everything - matching
assert count("--include", "^Worker\\.(alpha|threads)$", "--exclude", "^Worker\\.spin$") == sum(
    n for s, n in stacks() if ("Worker.alpha" in s or "Worker.threads" in s) and "Worker.spin" not in s)
assert count("--include", "no such frame") == 0


def times(*words):
    """The times of the samples, from script."""
    out = subprocess.run([braid, "script", "--event", "cpu", *words, trace], check=True, capture_output=True, text=True)
    return [float(t) for t in re.findall(r"^\S.* \d+/\d+ \[\d+\] ([\d.]+): +\d+ ", out.stdout, re.M)]


# One time base: the recording's start, in script as in windows and dates.
taken = sorted(times())
assert len(taken) == everything and 0 <= taken[0] and taken[-1] < whole["duration_s"] + 5, (taken[0], taken[-1])
boot = sorted(times("--time", "monotonic"))
assert all(abs(b - a - whole["start"]["monotonic_s"]) < 1e-6 for a, b in zip(taken, boot))
middle = taken[len(taken) // 2]
before = sum(t < middle for t in taken)
date = datetime.datetime.fromtimestamp(whole["start"]["realtime_s"] // 1, datetime.timezone.utc) + datetime.timedelta(
    seconds=whole["start"]["realtime_s"] % 1 + middle)
for at in ("%.9f" % middle, "%.6fms" % (middle * 1e3)):
    assert (count("--to", at), count("--from", at)) == (before, everything - before), at
    assert len(times("--to", at)) == before
# a double represents such a date to a microsecond or two
near = sum(abs(t - middle) < 1e-5 for t in taken)
assert abs(count("--to", date.isoformat()) - before) <= near, date
assert count("--from", "0", "--to", "1000m") == everything

top = json.loads(subprocess.run([braid, "report", "--json", "--top", "3", trace], check=True, capture_output=True).stdout)
assert len(top["methods"]) == 3 and top["methods"] == whole["methods"][:3]
assert len(stacks("--top", "2")) == 2
