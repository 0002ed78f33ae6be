#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Calls by virtual threads last through all of their parks, are theirs on whatever carriers they run, and are reported with
# their names; asynchronous calls are those of the threads that make them. On all JDKs that have virtual threads.
# class: long
# takes: 10 s
source "$(dirname "$0")/../lib.sh"

on()
{
	local java=$1/bin/java

	[[ -e VCalls.class ]] || "$1/bin/javac" --release 21 -d . "$TEST_DIR/java21/VCalls.java"
	braid record -q -e 'offcpu=0ns,method=VCalls.served>1ms/arg1,rate=0/' -o v.trace -- "$java" -Xmx64m -Djdk.virtualThreadScheduler.parallelism=2 -cp . VCalls \
		>v.trace.truth 2>err || fail "$(cat err)"
	events v.trace \
		"all calls" "len(of('method')) == len(truth['CALL']) == 41" \
		"of their threads" "all(e.text == 'arg1=\\\\\"%s\\\\\"' % (e.virtual.name if e.virtual else e.thread.name) for e in of('method'))" \
		"virtual ones" "len({e.virtual.name for e in of('method') if e.virtual}) == 40" \
		"more threads than carriers" "len({e.thread.tid for e in of('method') if e.virtual}) <= 3" \
		"parked, too" "min(e.duration_ns for e in of('method')) >= 20000000" \
		"as long as the program says" "at_least(sum(abs(e.duration_ns - ns[e.text[7:-2]]) <= max(ns[e.text[7:-2]] / 100, 100000)
			for ns in [{name: int(t) for name, t in truth['CALL']}] for e in of('method')), 41, 70)" \
		"no event lost" "all(kind == 'code_name' for _, kind, _ in lost)"
	braid report --full --top 100 v.trace >tables
	grep -q ' VCalls.served (arg1="call-7"), in call-7$' tables || fail "no name of a virtual thread: $(sed -n '/slowest/,$p' tables)"
	braid report --json --top 100 v.trace | python3 -c '
import json, sys
calls = json.load(sys.stdin)["slowest_calls"]
assert len(calls) == 41 and {c["self_ns"] == c["ns"] for c in calls} == {True}, calls
assert sum(c["virtual_thread"] is not None and c["virtual_thread"]["name"] in c["values"] for c in calls) == 40, calls'
	braid report --by span --span method:VCalls.served --top 100 --json v.trace >spans.json
	braid explain --span method:VCalls.served --slowest 41 --json v.trace >explained.json
	python3 - v.trace.truth <<'END'
import json, sys

took = {l.split()[1]: int(l.split()[2]) / 1e9 for l in open(sys.argv[1]) if l.startswith("CALL")}
spans = json.load(open("spans.json"))["by_samples"]
assert sorted(s["thread"] for s in spans) == sorted(took), spans
assert not any(s["other_threads"] for s in spans), spans
explained = [json.loads(line) for line in open("explained.json")]
assert sorted(e["thread"] for e in explained) == sorted(took), [e["thread"] for e in explained]
for e in explained:
    assert abs(sum(p["time_s"] for p in e["parts"]) - e["time_s"]) < 1e-6, e
    parked = sum(p["time_s"] for p in e["parts"] if p["state"] == "parked")
    assert parked >= 0.02 and e["time_s"] <= took[e["thread"]], (parked, e)
END
}

on_each_version 21 on
