#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A span that three threads serve, one after the other: each is shown, and explained for the time in which it had the span,
# not for what it did before and afterwards.
source "$(dirname "$0")/../lib.sh"

JAR=$BUILD/braid-context.jar
[[ -e $JAR ]] || skip "braid was built without a JDK"
"$JAVA_HOME/bin/javac" -cp "$JAR" -d . "$TEST_DIR/context/Handed.java"
braid record -q -e offcpu -o h.trace -- "$JAVA" -cp "$JAR:." Handed
braid explain --span 0000000000000001 h.trace >handed.txt
braid explain --span 0000000000000001 --json h.trace >handed.json
braid explain --span 0000000000000003 --json h.trace >other.json
python3 - <<'END'
import json

e = json.load(open("handed.json"))


def slept(who, site):
    return sum(p["time_s"] for p in e["parts"] if (p["who"], p["state"], p["site"]) == (who, "sleeping", site))


assert abs(sum(p["time_s"] for p in e["parts"]) - e["time_s"]) < 1e-6, e["parts"]
# A timer runs before its thread has left the CPU.
assert e["time_s"] >= 0.149 and e["thread"] == "writer" and e["order_known"], e
assert [leg["thread"] for leg in e["path"]] == ["acceptor", "worker-0", "writer"], e["path"]
assert {leg["thread"] for leg in e["threads"]} == {"acceptor", "worker-0", "writer"}, e["threads"]
# The putter wakes the taker. If its times on the way there are too short for events, it was last seen with the span before them.
assert all(a["to_s"] <= b["from_s"] for a, b in zip(e["path"], e["path"][1:])), e["path"]
assert e["path"][0]["from_s"] == e["from_s"] and e["path"][-1]["to_s"] == e["to_s"], e
assert 0.039 <= slept("acceptor", "Handed.accept") and 0.059 <= slept("worker-0", "Handed.work"), e["parts"]
assert 0.049 <= slept("writer", "Handed.write"), e["parts"]
# The other spans of these threads are at other times. What is known in sum only and is in no span may have been at any time.
assert not [p for p in e["parts"] if p["site"] == "Handed.other" and not p["share"]], e["parts"]
other = json.load(open("other.json"))
assert other["thread"] == "acceptor" and "path" not in other, other
END
grep -q '^writer ([0-9]*), and other threads before it, took ' handed.txt || fail "$(cat handed.txt)"
grep -q 'worker-0 sleeping in Handed.work$' handed.txt || fail "$(cat handed.txt)"
[[ $(grep -cE '^ +[0-9.]+ m?s  from [0-9.]+ s  (acceptor|worker-0|writer) \(' handed.txt) -eq 6 ]] || fail "not all threads: $(cat handed.txt)"

# All of them are of one trace.
braid explain --slowest 3 --json h.trace >slowest.json
braid explain --trace 00000000000000010000000000000001 --slowest 3 --json h.trace | cmp - slowest.json || fail "not the spans of the trace"
braid explain --trace 00000000000000010000000000000001 --json h.trace | cmp - <(head -n 1 slowest.json) || fail "not the longest span"
for trace in 00000000000000010000000000000002 1 "00000000000000010000000000000001 --thread writer"; do
	# shellcheck disable=SC2086 # words
	braid explain --trace $trace h.trace >out 2>err && fail "--trace $trace: $(cat out)"
	grep -q 'has no times of such spans\|is not a list of trace ids\|nor --thread with --trace' err || fail "--trace $trace: $(cat err)"
done
