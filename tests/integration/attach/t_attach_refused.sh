#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A JVM that refuses attaching is recorded natively, and the trace explains why. Which of the chosen event types are missing without
# an agent is said, and nothing of them is shown as zero; the same with --no-attach, and of processes that are no JVMs.
# class: long
source "$(dirname "$0")/../lib.sh"

start_worker jvm -XX:+DisableAttachMechanism
start_record -F 997 -p "$JAVA_PID" -o r.trace
wait_sampling
burn jvm 300
stop_record
grep -q "process $JAVA_PID: .*DisableAttachMechanism.*; it is recorded without gc, and without its inlined methods$" record.err || fail "no word about it: $(cat record.err)"
check r.trace \
	"samples" 'i["samples"]["total"] >= 300 and alike("old-0", "old-1")' \
	"the notice" "notice('DisableAttachMechanism')"
braid info r.trace | finds DisableAttachMechanism || fail "info does not say it"
braid list | finds "^ *$JAVA_PID .*DisableAttachMechanism" || fail "list does not say it"
ask jvm burn 10
end_worker jvm "$JAVA_PID"

# What is missing without an agent: one line each for what was chosen.
lacks()
{
	local expression

	[[ $(grep -c "$1" record.err) -eq 1 ]] || fail "no word, or several: $(cat record.err)"
	shift
	braid info lacks.trace | finds "^  lacks      $1: process $JAVA_PID (.*) had no agent$" || fail "info: $(braid info lacks.trace)"
	braid report lacks.trace | finds "^  lacks      $1: process $JAVA_PID (.*) had no agent$" || fail "report: $(braid report lacks.trace)"
	braid report --full lacks.trace | finds "^  Java threads     not known: " || fail "Java threads: $(braid report --full lacks.trace)"
	printf -v expression 'i["without_agent"] == [{"pid": %d, "missing": %s}]' "$JAVA_PID" "$2"
	check lacks.trace "JSON" "$expression"
}

start_worker refusing -XX:+DisableAttachMechanism
start_record -F 997 -e cpu,alloc,safepoint,lock -p "$JAVA_PID" -o lacks.trace
wait_sampling
burn refusing 50
stop_record
lacks "process $JAVA_PID: .*; it is recorded without alloc and lock, and without" "alloc and lock" '["alloc", "lock"]'
end_worker refusing "$JAVA_PID"

# With --no-attach there is no agent.
start_worker other
start_record -F 997 --no-attach -p "$JAVA_PID" -o o.trace
wait_sampling
burn other 200
stop_record
! grep -q libbraid-agent "/proc/$JAVA_PID/maps" || fail "--no-attach attached"
check o.trace "samples" 'i["samples"]["total"] >= 200 and alike("old-0", "old-1")'
! grep -q "warning" record.err || fail "a warning, but nothing was chosen: $(cat record.err)"
start_record -F 997 --no-attach -e 'cpu,alloc,lock,heap,offcpu,method=X.*' -p "$JAVA_PID" -o lacks.trace
wait_sampling
burn other 50
stop_record
lacks "process $JAVA_PID has no agent (--no-attach): it is recorded without alloc, lock, heap and method, and without" \
	"alloc, lock, heap and method" '["alloc", "lock", "heap", "method"]'
end_worker other "$JAVA_PID"

# An agent that cannot connect is reported however short the recording is.
"${CC:-gcc}" -std=gnu11 -O1 "$LIB_DIR/programs/seccomp.c" -o filtered
attached()
{
	grep -q libbraid-agent "/proc/$JAVA_PID/maps" && [[ -z $(cat "/proc/$RECORD_PID/task/$RECORD_PID/children") ]]
}
PREFIX="./filtered connect" start_worker alone
start_record -F 997 -p "$JAVA_PID" -o a.trace
wait_for "the agent to be loaded" attached
stop_record
grep -q "process $JAVA_PID: the agent was loaded but did not connect" record.err || fail "no word about it: $(cat record.err)"
check a.trace "the notice" "notice('did not connect')"
end_worker alone "$JAVA_PID"

# A process that is no JVM, and a command that is none.
sleep 1000 &
braid record -d 10ms -e "cpu,method=X.*,gc" -p $! -o n.trace 2>err || fail "sleep: $(cat err)"
grep -q "process $! is not a JVM: native frames only, and nothing of gc and method$" err || fail "sleep: $(cat err)"
braid record -d 10ms --no-attach -e cpu,safepoint -p $! -o n.trace 2>err || fail "sleep: $(cat err)"
grep -q "process $! is not a JVM: native frames only, and nothing of safepoint$" err || fail "sleep: $(cat err)"
kill $!
braid record -e cpu,alloc,thread -o n.trace -- true 2>err || fail "true: $(cat err)"
grep -q "no JVM was recorded, so there is nothing of alloc$" err || fail "true: $(cat err)"
