#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Spans between two probes of a program that knows nothing of spans: each of its requests is one, and the slowest is
# explained by the thread that held the lock, also where it is compared with the typical one.
source "$(dirname "$0")/../lib.sh"
source "$TEST_DIR/requests.sh"

cc -O1 -pthread -o requests "$TEST_DIR/requests.c"
requests r.trace -e offcpu -e "uprobe:$PWD/requests:request_begin" -e "uprobe:$PWD/requests:request_end"

braid report --by span --span request_begin..request_end --json r.trace >spans.json
braid explain --span request_begin..request_end r.trace >slowest.txt
braid explain --span "request_begin..uprobe:$PWD/requests:request_end" --slowest 12 --json r.trace >all.json
braid explain --span request_begin..request_end --what-if sleeping=0 --json r.trace >changed.json
braid export --event offcpu --span request_begin..request_end --span 0000000000000007 r.trace >seventh.txt
braid explain --diff --span request_begin..request_end r.trace >diff.txt
braid explain --diff --span request_begin..request_end --json r.trace >diff.json
braid explain --span request_begin..request_end --span 0000000000000007 --against 0000000000000003 --json r.trace >third.json
python3 - <<'END'
import json

spans = json.load(open("spans.json"))
lasted = {s["span"]: s["last_s"] - s["first_s"] for s in spans["by_samples"]}
assert spans["spans"] == 12 and set(lasted) == {f"{n:016x}" for n in range(1, 13)}, spans
assert all(t >= 0.005 for t in lasted.values()) and lasted[f"{7:016x}"] >= 0.300, lasted
assert all(s["offcpu_s"] >= 0.005 and s["thread"] == "requests" for s in spans["by_samples"]), spans
explained = [json.loads(line) for line in open("all.json")]
assert len(explained) == 12 and explained[0]["time_s"] == max(e["time_s"] for e in explained) >= 0.300, explained
for name in "diff", "third":
    diff = json.load(open(f"{name}.json"))
    against = diff["against"]
    assert diff["span"] == f"{7:016x}" and against["span"] != diff["span"], diff
    assert abs(sum(c["time_s"] for c in diff["changes"]) - diff["time_s"]) < 1e-6, diff
    assert abs(sum(c["against_s"] for c in diff["changes"]) - against["time_s"]) < 1e-6, diff
    first = diff["changes"][0]
    assert (first["who"], first["state"], first["site"], first["against_s"]) == ("backup", "sleeping", "hold_lock", 0), first
    assert first["time_s"] > 0.3 and first["for"]["site"] == "look_up", first
    # What both did is one row.
    assert any(c["state"] == "sleeping" and c["site"] == "look_up" and min(c["time_s"], c["against_s"]) > 0.004 for c in diff["changes"]), diff
    if name == "diff":
        assert against["typical_of"] == 12 and against["time_s"] == sorted(e["time_s"] for e in explained)[5], diff
    else:
        assert against["typical_of"] is None and against["span"] == f"{3:016x}", diff
changed = json.load(open("changed.json"))
assert changed["predicted_s"] < changed["time_s"] - 0.300, changed
END
grep -q '^Span 0000000000000007' slowest.txt || fail "not the seventh: $(cat slowest.txt)"
grep -q 'backup sleeping in hold_lock' slowest.txt || fail "nobody held the lock: $(cat slowest.txt)"
grep -q '^against the typical one, 00000000000000' diff.txt || fail "against which one: $(cat diff.txt)"
sed -n 6p diff.txt | grep -q '^  + .*backup sleeping in hold_lock$' || fail "the first difference: $(cat diff.txt)"
grep -q 'serve;look_up' seventh.txt || fail "no waits of the seventh: $(cat seventh.txt)"
! grep -q 'hold_lock' seventh.txt || fail "the other thread is in no span: $(cat seventh.txt)"

# Both have the short names of events.
braid export --event request_begin r.trace >begin.txt
braid export --event "uprobe:$PWD/requests:request_begin" r.trace | cmp - begin.txt || fail "--event: the short name is another event"
grep -q 'serve;request_begin 12$' begin.txt || fail "--event request_begin: $(cat begin.txt)"
[[ $(braid script --event request_begin r.trace | grep -c 'request_begin:$') -eq 12 ]] || fail "script --event request_begin"

# What cannot be paired is an error that names it.
refuses()
{
	local pair=$1 why=$2 status=0

	shift 2
	braid "$@" --span "$pair" r.trace >out 2>err || status=$?
	[[ $status -eq 1 ]] || fail "$*: exit status $status: $(cat err)"
	one_line_error out err
	grep -qF "$why" err || fail "$*: $(cat err)"
}
refuses request_begin..nothing "no samples of the event 'nothing'" report --by span
refuses request_begin.. "an event's name is missing" report
refuses request_begin..request_end "has no times of the span 00000000000000ff" explain --against 00000000000000ff
refuses request_begin..request_end "has no times of another span 0000000000000007" explain --against 0000000000000007
refuses request_end..request_begin.. "no samples of the event 'request_begin..'" explain
braid record -q -e "uprobe:$PWD/requests:request_begin" -e "uprobe:$PWD/requests:serve" -o r.trace -- ./requests
refuses request_begin..request_end "no samples of the event 'request_end'" explain
