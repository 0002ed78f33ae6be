#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# When every time off the CPU is reported, its stack is taken when it begins. The program that runs when a thread comes back
# is attached only until it is not needed any more: what goes on and began before the recording is walked from outside, and has
# its stack, too. New processes and locks need it again.
# class: long
source "$(dirname "$0")/../lib.sh"

"${CC:-gcc}" -std=gnu11 -O1 -g -fno-optimize-sibling-calls "$TEST_DIR/switcher.c" -o switcher -pthread
"${CC:-gcc}" -std=gnu11 -O1 -g -fPIC -shared "$TEST_DIR/../span/variable.c" "$TEST_DIR/../span/in_span.c" -o in_span.so

links()
{
	{ grep -ls '^link_id' /proc/"$RECORD_PID"/fdinfo/* || true; } | wc -l
}

fewer()
{
	[[ $(links) -lt $1 ]]
}

start_program early.trace.truth env LD_PRELOAD=./in_span.so ./switcher 100 wait
start_record -q -F 99 -e cpu,offcpu=0ns -p "$JAVA_PID" -o early.trace
wait_sampling
attached=$(links)
wait_for "the program that is not needed to be detached" fewer "$attached"
go_on
wait_says early.trace.truth "done"
stop_record
end_program
events early.trace \
	"what began before has its stack" "[e for e in of('offcpu') if e.flags & 0x40000 and 'main' in e.stack and 'say' in e.stack] != []" \
	"and its span, as has what had not ended" "[bool(e.span) for e in of('offcpu') if e.flags & 0x40000] == [True] and
		[bool(e.span) for e in of('offcpu') if e.flags & 0x20000] == [True]" \
	"nothing lost" "lost == []"

# The collector learns a moment later what a new process has mapped: then the thread takes its stack when it comes back.
mkfifo begin
start_record -q -e offcpu=0ns -o new.trace -- bash -c 'read -r <begin; sleep 0.4; sleep 0.4; sleep 0.4'
wait_child "$RECORD_PID" bash
attached=$(links)
wait_for "the program that is not needed to be detached" fewer "$attached"
echo >begin
end_record
events new.trace \
	"new processes that sleep have their stacks" "[e.stack[0] for e in of('offcpu') if e.process.comm == 'sleep' and e.duration_ns > 0.35e9] == ['clock_nanosleep'] * 3 and
		all('[incomplete]' not in e.stack for e in of('offcpu') if e.process.comm == 'sleep' and e.duration_ns > 0.35e9)" \
	"nothing lost" "lost == []"

"$JAVA" -cp "$CLASSES" Locks 100000 >locks.truth &
JAVA_PID=$!
start_record -q -F 99 -e cpu,offcpu=0ns -p "$JAVA_PID" -o locks.trace
wait_attached "$JAVA_PID"
braid ctl "$JAVA_PID" enable lock=10us
locks=("locks that are enabled later" "any('java.util.concurrent' in e.name and e.other is not None for e in of('lock'))")
has_lock()
{
	(events locks.trace "${locks[@]}") &>said
}
wait_for "a lock with an owner" has_lock
stop_record
kill "$JAVA_PID"
events locks.trace "${locks[@]}"
