#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Counters by perf's names: of hardware samples where there is a PMU, and else a refusal that says so; the kernel's own anywhere, where
# what they count happens.
# class: long
source "$(dirname "$0")/../lib.sh"
source "$TEST_DIR/events.sh"

# shellcheck disable=SC2016 # the shell that is recorded expands it
for counter in cycles instructions cache-misses branch-misses dTLB-load-misses; do
	if braid record -q -F 999 -e "$counter" -o "$counter.trace" -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done' 2>err; then
		check "$counter.trace" "what took samples" "r['recording']['record.event'] == '$counter'" "whole stacks" \
			'weight(stacks) == 0 or mostly_whole(stacks, 90)'
		[[ $counter != instructions ]] || check "$counter.trace" "samples" 'weight(stacks) > 0'
	else
		refused "-e $counter" "no '$counter' event on this machine .virtual machines often have no PMU.; use -e cpu-clock"
	fi
done

cc -O2 -o kernel "$TEST_DIR/kernel.c"
record -F 999 -e page-faults -o faults.trace -- sh -c '{ echo; sleep 1; echo; } | ./kernel flood fault 100000' >/dev/null
check faults.trace "what took samples" 'r["recording"]["record.event"] == "page-faults"' \
	"where they happen" 'weight(with_frame("flood_fault")) > 0'
# The event counts the switches of a CPU: enough of them have to be the program's.
record -F 999 -e context-switches -o switches.trace -- python3 -c 'import time
for _ in range(10000): time.sleep(1e-9)'
check switches.trace "what took samples" 'r["recording"]["record.event"] == "context-switches"' \
	"where they happen" 'weight(stacks) > 0 and all_match(stacks, "schedule") > 50'

# Several: one is the clock, the others are events of their own.
record -F 999 -e page-faults,task-clock,cpu-clock,emulation-faults -o several.trace -- sh -c '{ echo; sleep 1; echo; } | ./kernel flood fault 100000' >/dev/null
check several.trace "the clock" 'r["recording"]["record.event"] == "task-clock" and weight(stacks) > 0' \
	"the others" '{e["event"] for e in r["hit_events"]} >= {"page-faults", "cpu-clock"}' \
	"where they happen" 'any("flood_fault" in s["name"] for e in r["hit_events"] if e["event"] == "page-faults" for s in e["sites"])' \
	"about as many" '0.5 < sum(e["samples"] for e in r["hit_events"] if e["event"] == "cpu-clock") / weight(stacks) < 2'
braid export --format collapsed --event page-faults several.trace >faults
grep -q 'flood_fault' faults || fail "no page fault among those of the event: $(head -c 2000 faults)"
braid script --event cpu-clock several.trace >lines
grep -q ' cpu-clock:' lines || fail "script has no samples of cpu-clock"
braid report --html several.html several.trace
for event in page-faults cpu-clock; do
	grep -q "\"$event\"" several.html || fail "the page has no $event"
done
if ! braid record -q -e task-clock,instructions -o both.trace -- true 2>err; then
	refused "-e task-clock,instructions" "no 'instructions' event on this machine .virtual machines often have no PMU."
fi
refused "-e instruction" "unknown event 'instruction'" 2
refused "-e instructions=5" "unknown event 'instructions'" 2
