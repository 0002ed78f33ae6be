# SPDX-License-Identifier: Apache-2.0
"""sql.py: compares the answers of t_events_views.sh's questions, and the database that it has exported, with the report: counts,
weights, methods."""
import collections
import json
import sqlite3

import readers

report = json.load(open("v.json"))
kinds = {k["kind"]: k for k in json.load(open("kinds.json")) if k["count"]}
for name, k in report["events"].items():
    weight = readers.weight(k, idle=False)
    assert kinds[name]["weight"] == weight, (name, kinds[name], weight)
    assert name == "offcpu" or kinds[name]["count"] == k["count"], (name, kinds[name], k["count"])

methods = {m["function"]: m for m in json.load(open("methods.json"))}
sums = collections.defaultdict(lambda: [0, 0])
for m in report["methods"]:
    sums[m["name"]][0] += m["self"]
    sums[m["name"]][1] += m["total"]
for name, (self, total) in sums.items():
    assert name.startswith("[incomplete") or [methods[name]["self"], methods[name]["total"]] == [self, total], (name, self, total)
assert len(sums) > 10

# The database has the same, by another reader.
db = sqlite3.connect("v.db")
assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
rows = dict((k, (n, w)) for k, n, w in db.execute("SELECT kind, count(*), sum(weight) FROM events GROUP BY kind"))
for name, k in kinds.items():
    assert name == "offcpu" or rows[name] == (k["count"], k["weight"]), (name, rows[name], k)
rows = {f: [s, t] for f, s, t in db.execute("SELECT function, sum(self), sum(total) FROM methods GROUP BY function")}
assert rows == {m["function"]: [m["self"], m["total"]] for m in methods.values()}
assert db.execute("SELECT sum(weight) FROM samples").fetchone() == db.execute("SELECT sum(weight) FROM profile").fetchone()
assert db.execute("SELECT sum(weight) FROM samples").fetchone()[0] == report["samples"]["total"], report["samples"]
threads = collections.Counter()
for t in report["threads"]:
    threads[t["tid"]] += t["samples"]
rows = db.execute("SELECT tid, sum(weight) FROM samples JOIN threads USING (thread_id) GROUP BY tid").fetchall()
assert dict(rows) == threads, (rows, threads)
