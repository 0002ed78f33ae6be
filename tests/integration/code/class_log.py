# SPDX-License-Identifier: Apache-2.0
"""class_log.py LOG NAMES: compares the classes in the JVM's own log with the load events.

There is no event for a class that was loaded before the agent's first event (the archive's, before VMStart), and the
log has more than one format.
"""
import collections
import re
import sys

log = []
for line in open(sys.argv[1], errors="replace"):
    match = re.search(r"\[Loaded (\S+) from ", line) or re.search(r"\] (\S+) source: ", line)
    if match:
        log.append(match.group(1))
events = [line.strip() for line in open(sys.argv[2])]


def plain(name):
    """Without the part that differs for every hidden class."""
    return re.sub(r"[/+.](0x)?[0-9a-f]+$", "", name)


logged, reported = collections.Counter(map(plain, log)), collections.Counter(map(plain, events))
early = len(log) - len(events)
missing = logged - reported
print("log %d, events %d, before them %d" % (len(log), len(events), early))
if reported - logged:
    sys.exit("reported and not loaded: %s" % dict((reported - logged).most_common(10)))
later = collections.Counter(map(plain, log[early + 20:])) & missing
if early > 1200 or early < 0 or (missing - collections.Counter(map(plain, log[: early + 20]))):
    sys.exit("loaded and not reported: %s" % dict((missing - collections.Counter(map(plain, log[: early + 20]))).most_common(10)))
