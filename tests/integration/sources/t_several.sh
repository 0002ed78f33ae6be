#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Several tracepoints and the clock in one recording: each event has its own samples, as many as there were hits, and the
# clock's figures are its own.
# class: long
source "$(dirname "$0")/../lib.sh"
source "$TEST_DIR/events.sh"

cp "$(command -v dd)" ./other
# The shell's own forks and execs; two programs with their writes.
commands='for i in 1 2 3 4 5; do
	dd if=/dev/zero of=/dev/null bs=1 count=100 status=none
done
./other if=/dev/zero of=/dev/null bs=3 count=70 status=none'

record -F 997 -e cpu,sched:sched_process_exec,syscalls:sys_enter_write -o mixed.trace -- sh -c "$commands"
count mixed.trace sched:sched_process_exec 7 # the shell's own is the first
count mixed.trace syscalls:sys_enter_write 570 '(^|;)_?_?write;.*do_syscall_64;'
check mixed.trace \
	"the table" '{e["event"]: (e["samples"], e["complete"], e["hits"]) for e in r["hit_events"]} ==
		{"sched:sched_process_exec": (7, 7, 7), "syscalls:sys_enter_write": (570, 570, 570)}' \
	"the clock is what it was" 'r["recording"]["record.event"] == "cpu-clock" and r["recording"]["record.frequency_hz"] == "997"' \
	"its samples are the others" 'weight(stacks) == i["samples"]["total"] == sum(t["samples"] for t in r["threads"]) ==
		sum(m["self"] for m in r["methods"])' \
	"nothing lost" 'i["lost"] == {}'
raw=$(braid script --raw mixed.trace | grep -c '^sample .* event=0 ' || true)
[[ $raw -eq $(braid script --event cpu mixed.trace | grep -c ' cpu-clock:$') ]] || fail "script prints other samples of the clock"
braid script --event syscalls:sys_enter_write mixed.trace >only
[[ $(grep -c ' syscalls:sys_enter_write: fd=1 ' only) -eq 570 ]] || fail "script does not print the samples of an event"
! grep '^[^[:space:]]' only | grep -v ' syscalls:sys_enter_write: fd=' || fail "script prints others, too"
braid report --full mixed.trace | grep -A 3 '^Events' | finds ' 570 .* 100.00%  syscalls:sys_enter_write' || fail "the report has no table"
braid report --html mixed.html mixed.trace
python3 - mixed.html <<'PYTHON'
import json
import re
import sys
page = open(sys.argv[1], encoding="utf-8").read()
graphs = {g["name"]: g["total"] for g in json.loads(re.search(r'<script[^>]*json[^>]*>(.*?)</script>', page, re.S)[1])["graphs"]}
assert graphs["syscalls:sys_enter_write"] == 570 and graphs["sched:sched_process_exec"] == 7 and "cpu-clock" in graphs, graphs
PYTHON

# Each event has its own period, on each CPU.
record -c 10 -e syscalls:sys_enter_write,syscalls:sys_enter_read -o tenth.trace -- "${ON_ONE_CPU[@]}" ./other if=/dev/zero of=/dev/null bs=1 \
	count=400 status=none
check tenth.trace "no clock" '"record.event" not in r["recording"] and weight(stacks) == 0' \
	"one in ten" '{e["event"]: (e["samples"], e["hits"] // 10) for e in r["hit_events"]}["syscalls:sys_enter_write"] == (40, 40) and
		all(e["samples"] == e["hits"] // 10 for e in r["hit_events"])'

# Too many hits: what the samples may cost is limited, and each hit is a sample or lost.
record -e cpu,syscalls:sys_enter_write -o hot.trace -- "${ON_ONE_CPU[@]}" dd if=/dev/zero of=/dev/null bs=1 count=1000000 status=none
check hot.trace "sampled or lost" 'i["lost"].get("bpf", {}).get("hit", 0) + r["hit_events"][0]["samples"] == 1000000 == r["hit_events"][0]["hits"]' \
	"many samples" 'r["hit_events"][0]["samples"] > 10000'
