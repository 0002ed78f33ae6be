#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program in which somebody has set return probes (uretprobes), for which the kernel replaces return addresses: stacks
# are whole, of ticks, of times off the CPU, and of a thread that sleeps until the recording ends.
source "$(dirname "$0")/../lib.sh"

[[ -r /sys/bus/event_source/devices/uprobe/type ]] || skip "no uprobes"

cc -O2 -o returns "$TEST_DIR/returns.c"
mapfile -t offsets < <(nm returns | sed -n 's/ T \(inner\|middle\|outer\)$//p')
[[ ${#offsets[@]} -eq 3 ]] || fail "not three functions: ${offsets[*]}"

# 800 calls take half a second. In each the thread is for a moment where neither address is to be had: a small part of it,
# also where the traps take long.
braid record -q -F 1999 -o calls.trace -- ./returns "${offsets[@]}" -- 800 2>err || fail "$(cat err)"
check calls.trace "enough samples" "weight(matching(stacks, 'main;calls(;|$)')) > 200" \
	"in the functions" "at_least(weight(matching(stacks, 'main;calls;outer;inner(;|$)')), weight(matching(stacks, 'main;calls(;|$)')), 70)" \
	"stacks are whole" 'at_least(i["samples"]["complete"], i["samples"]["total"], 95)'

# The program sleeps when the recording ends, and is killed.
in_pause()
{
	local call

	text_of "/proc/$CHILD/syscall" call
	[[ $call == "34 "* ]]
}
start_record -q --kill -e offcpu=0ns -o asleep.trace -- ./returns "${offsets[@]}" -- 0
wait_child "$RECORD_PID" returns
wait_for "the sleep in pause()" in_pause
kill -INT "$RECORD_PID"
wait_end "$RECORD_PID" "the recording"
braid export --format collapsed --event offcpu asleep.trace >asleep
grep -Eq ';main;calls;outer;inner;(__libc_)?pause ' asleep || fail "no sleep in pause(): $(cat asleep)"
