#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Calls of timed methods are spans: what their threads did in each, why they took that long, and the sums are exact.
source "$(dirname "$0")/../lib.sh"

braid record -q --preset wall -e 'method=Requests.*>1ms/arg1,arg2/' -o r.trace -- "$JAVA" -Xmx64m -XX:+UseSerialGC -cp "$CLASSES" Requests
calls=method:Requests.request
braid report --top 1000 --json r.trace >report.json
braid report --by span --span "$calls" --json r.trace >spans.json
braid explain --span "$calls" --slowest 6 --json r.trace >slowest.json
braid explain --span "$calls" --span 0000000000000004 r.trace >fourth.explained
braid export --event lock --span "$calls" --span 0000000000000004 r.trace >fourth.txt
python3 - <<'END'
import json

spans = json.load(open("spans.json"))
assert spans["spans"] == 6, spans
what = {s["attributes"]["values"].split('"')[1] + s["span"][-1]: s for s in spans["by_samples"]}
assert set(what) == {"plain1", "plain2", "plain3", "lock4", "gc5", "fail6"}, what
assert {s["attributes"]["method"] for s in what.values()} == {"Requests.request"}, what
assert what["fail6"]["attributes"]["exception"] == "java.io.IOException" and "exception" not in what["gc5"]["attributes"], what

# As long as the call is: the inner one is a part of the fourth.
calls = {c["values"]: c["ns"] for c in json.load(open("report.json"))["slowest_calls"] if c["method"] == "Requests.request"}
assert len(calls) == 7, calls
for s in what.values():
    assert abs(s["last_s"] - s["first_s"] - calls[s["attributes"]["values"]] / 1e9) < 1e-6, (s, calls)
assert what["lock4"]["offcpu_s"] > 0.05, what["lock4"]

explained = [json.loads(line) for line in open("slowest.json")]
assert len(explained) == 6, len(explained)
times = [e["time_s"] for e in explained]
assert times == sorted(times, reverse=True) and abs(sum(times) - sum(calls.values()) / 1e9 + calls['arg1=0, arg2="inner"'] / 1e9) < 1e-5
for e in explained:
    assert abs(sum(p["time_s"] for p in e["parts"]) - e["time_s"]) < 1e-6, e["parts"]
    assert abs(calls[e["attributes"]["values"]] / 1e9 - e["time_s"]) < 1e-6, (e["span"], e["attributes"])


def share(e, **wanted):
    return sum(p["time_s"] for p in e["parts"] if all(p[k] == v for k, v in wanted.items()))


# Also where HotSpot looks at the lock again, after 1, 9 and 73 ms, it is the holder's time. On a busy machine, the call may wait for
# a CPU for most of the time in which the holder sleeps.
locked = [e for e in explained if share(e, state="monitor") + share(e, who="holder", state="sleeping") > 0]
assert share(locked[0], state="monitor") < 0.1 * share(locked[0], who="holder"), locked[0]["parts"]
assert share(locked[0], who="holder", state="sleeping") > 0, locked[0]["parts"]
assert [e["span"] for e in locked] == ["0000000000000004"], [e["parts"][:4] for e in explained]
collected = [e for e in explained if share(e, state="gc") > 0]
assert "0000000000000005" in [e["span"] for e in collected], [e["parts"][:4] for e in explained]
END
grep -q '^Span 0000000000000004 method="Requests.request" values="arg1=4, arg2=\\"lock\\""$' fourth.explained || fail "not the fourth: $(cat fourth.explained)"
grep -q 'Requests.request' fourth.txt || fail "no waits of the fourth: $(cat fourth.txt)"
! grep -q 'Requests.hold' fourth.txt || fail "the other thread is in no span: $(cat fourth.txt)"

refuses()
{
	local why=$1

	shift
	! braid "$@" r.trace >out 2>err || fail "braid $* succeeded"
	finds "$why" <err || fail "$*: $(cat err)"
}
refuses "has no calls of a method 'Requests.other'" report --by span --span method:Requests.other
refuses "'method:' is neither" report --span method:
refuses "is neither" explain --span method:a.b --span method:c.d
