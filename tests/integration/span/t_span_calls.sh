#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Spans that are calls of a function, from the call to its return, and those between two system calls. They are selected by how long
# they lasted and by their names, and the slowest comes first where they are sorted.
source "$(dirname "$0")/../lib.sh"
source "$TEST_DIR/requests.sh"

cc -O1 -pthread -o requests "$TEST_DIR/requests.c"
cc -O1 -pthread -o accepts "$TEST_DIR/accepts.c"
probe=$PWD/requests:look_up

# spans TRACE [WHAT...]: the spans of a trace as JSON, the slowest first.
spans()
{
	local trace=$1

	shift
	braid report --by span --sort duration --json --top 1000 "$@" "$trace"
}

requests elapsed.trace -e offcpu -e "uretprobe:$probe{retval,elapsed}"
requests pair.trace -e offcpu -e "uprobe:$probe" -e "uretprobe:$probe"
for trace in elapsed pair; do
	spans "$trace.trace" --span "uprobe:$probe" >"$trace.json"
	cmp <(spans "$trace.trace" --span uprobe:look_up | sed 's/"filter":"[^"]*"//') <(sed 's/"filter":"[^"]*"//' "$trace.json") ||
		fail "$trace: the short name is another function"
	spans "$trace.trace" --span "uprobe:look_up" --span 'duration>30ms' >"$trace.slow"
	spans "$trace.trace" --span "uprobe:look_up" --span 'duration<=30ms' --span 'name~look_*' >"$trace.fast"
	spans "$trace.trace" --span "uprobe:look_up" --span 'duration=30ms..10s' --span 0000000000000007 >"$trace.seventh"
	braid explain --span uprobe:look_up --span 0000000000000007 "$trace.trace" >"$trace.txt"
	grep -q 'backup sleeping in hold_lock' "$trace.txt" || fail "$trace: not who held the lock: $(cat "$trace.txt")"
	python3 - "$trace" <<'END'
import json, sys

def spans(kind):
    return json.load(open(sys.argv[1] + "." + kind))["by_duration"]
every = spans("json")
lasted = [s["lasted_s"] for s in every]
assert len(every) == 12 and lasted == sorted(lasted, reverse=True) and lasted[-1] > 0.005 and lasted[0] > 0.06, every
assert all(s["attributes"]["function"] == "look_up" and s["thread"] == "requests" and s["offcpu_s"] > 0.004 for s in every), every
if sys.argv[1] == "elapsed":
    assert all(s["attributes"]["values"].startswith("retval=") for s in every), every
names = lambda some: [s["span"] for s in some]
assert names(spans("slow")) == names(s for s in every if s["lasted_s"] > 0.03) and f"{7:016x}" in names(spans("slow")), spans("slow")
assert names(spans("fast")) == names(s for s in every if s["lasted_s"] <= 0.03), spans("fast")
assert names(spans("seventh")) == [f"{7:016x}"], spans("seventh")
END
done

# A window does not make the spans shorter that are selected, and the text says what is.
from=$(python3 -c 'import json; s = json.load(open("elapsed.json"))["by_duration"][0]; print(s["last_s"] - 0.01)')
spans elapsed.trace --span uprobe:look_up --span 'duration>30ms' --from "$from" | grep -q '"span":"0000000000000007"' ||
	fail "the window cuts the seventh span before it is selected"
braid report --by span --span uprobe:look_up --span 'duration>30ms' elapsed.trace >slow.txt
grep -q "^filter: calls of 'uprobe:look_up'; span of at least 30.00 ms$" slow.txt || fail "the filter is not named: $(head -n 3 slow.txt)"
braid export --event offcpu --span uprobe:look_up --span 'duration>30ms' elapsed.trace >slow.stacks
grep -q 'serve;look_up' slow.stacks || fail "no waits of the slow ones: $(cat slow.stacks)"
! grep -q hold_lock slow.stacks || fail "the other thread is in no span"

# Between system calls: as tracepoints, and as events of calls of any length.
braid record -q -e offcpu -e syscalls:sys_exit_accept4 -e syscalls:sys_exit_write -o points.trace -- ./accepts
braid record -q -e offcpu -e syscall=0 -o calls.trace -- ./accepts
for trace in points calls; do
	spans "$trace.trace" --span accept..write >"$trace.json"
	spans "$trace.trace" --span accept4..write --span 'duration>30ms' >"$trace.slow"
	python3 - "$trace" <<'END'
import json, sys

every, slow = (json.load(open(sys.argv[1] + kind))["by_duration"] for kind in (".json", ".slow"))
assert len(every) == 8 and every[-1]["lasted_s"] > 0.005 and every[0]["lasted_s"] > 0.06, every
assert [s["span"] for s in slow] == [s["span"] for s in every if s["lasted_s"] > 0.03] and f"{5:016x}" in [s["span"] for s in slow], slow
END
done

# refuses TRACE SPAN WHY...: it is an error that says what there is.
refuses()
{
	local trace=$1 span=$2 status=0

	shift 2
	braid report --by span --span "$span" "$trace" >out 2>err || status=$?
	[[ $status -eq 1 ]] || fail "$span: exit status $status: $(cat err)"
	one_line_error out err
	for why in "$@"; do
		grep -qF "$why" err || fail "$span: $(cat err)"
	done
}
refuses points.trace accept..sendto "no samples of the event 'sendto'" "syscalls:sys_exit_accept4, syscalls:sys_exit_write"
refuses calls.trace accept..nothing "no samples of the event 'nothing'" accept4 write
refuses elapsed.trace uprobe:serve "no samples of the event 'uprobe:serve'" "uretprobe:$probe{retval,elapsed}"
braid record -q -e offcpu -e "uretprobe:$probe" -o returns.trace -- ./requests
refuses returns.trace uprobe:look_up "do not say when the calls began" "{elapsed}"
refuses elapsed.trace uprobe:look_up..look_up "no samples of the event 'uprobe:look_up'"
for wrong in 'duration>30' 'duration>' 'duration=30ms' 'duration=2s..1s' 'name~' 'uprobe:'; do
	status=0
	braid report --by span --span "$wrong" elapsed.trace >out 2>err || status=$?
	[[ $status -eq 2 ]] || fail "$wrong: exit status $status: $(cat err)"
done
