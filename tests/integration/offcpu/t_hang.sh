#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Waits that begin before a recording and have not ended with it are explained: what each waits for, and who has it.
# takes: 15 s
# shellcheck disable=SC2016 # names of classes have dollar signs
source "$(dirname "$0")/../lib.sh"

LOCK='java.util.concurrent.locks.ReentrantLock$NonfairSync'

# open_of THREAD: its times off the CPU that had not ended.
open_of()
{
	echo "[e for e in of('offcpu') if e.thread.name == '$1' and e.flags & 0x20000]"
}

# What the thread waits for is read again if it runs meanwhile, as one that waits for a monitor does once a second (JDKs before
# 24), but not for ever: then this recording does not have it, or only for the last of its times, which is to be more than half of
# them, and to begin soon. In most recordings as short as this one it does not run.
hang_told()
{
	braid record -q --preset wall -d 300ms -o hang.trace -p "$JAVA_PID" 2>err || fail "record: $(cat err)"
	(events hang.trace "the monitor and its owner" \
		"[(e.name, e.other and e.other.name) for e in $(open_of wants-monitor)] == [('Hang\$Monitor', 'owner')] and
			sum(e.duration_ns for e in of('offcpu') if e.thread.name == 'wants-monitor' and not e.flags & 0x20000) <
			min($(open_of wants-monitor)[0].duration_ns, 200e6)") &>said
}

start_program hang.trace.truth "$JAVA" -Xint -cp "$CLASSES" Hang
wait_for "a recording with the monitor's owner" hang_told
braid record -q -d 1 -e offcpu=0ns -o start.trace -p "$JAVA_PID" 2>err || fail "record: $(cat err)"
cp hang.trace.truth start.trace.truth
end_program
events hang.trace \
	"the lock and its owner" "[(e.name, e.other and e.other.name) for e in $(open_of wants-lock)] == [('$LOCK', 'owner')]" \
	"the condition's lock, which nobody owns for it" "[(e.name, e.other) for e in $(open_of awaits-condition)] == [('Condition of $LOCK', None)]" \
	"the peer" "[e.name for e in $(open_of reader)] == ['127.0.0.1:' + truth['peer'][0][0]]" \
	"both are a LOCK, too, for at least as long" "sorted((e.thread.name, e.flags, e.other.name) for e in of('lock')) ==
		[('wants-lock', 3, 'owner'), ('wants-monitor', 2, 'owner')] and all(
		lock.time_ns <= e.time_ns and lock.time_ns + lock.duration_ns == e.time_ns + e.duration_ns
		for lock in of('lock') for e in of('offcpu') if e.thread.name == lock.thread.name and e.flags & 0x20000)" \
	"who sleeps waits for nobody" "[(e.name, e.other) for e in $(open_of owner)] == [('', None)]"
for thread in wants-lock wants-monitor; do
	braid explain --thread "$thread" hang.trace >text
	head -1 text | finds "^$thread .*% owner sleeping in Hang.own," || fail "explain: $(cat text)"
done
braid report --wall hang.trace >text
finds '<- \[not ended\], held by owner, which is \[sleeping\] in Hang.own$' <text || fail "report --wall: $(cat text)"
braid at hang.trace 0.28 >text
finds "^  wants-lock (.*): parked ${LOCK//\$/[$]} for .*, held by owner (" <text || fail "at: $(cat text)"
finds '^  wants-monitor (.*): blocked on the monitor Hang[$]Monitor for .*, held by owner (' <text || fail "at: $(cat text)"

# Without the agent's part in it, and with stacks from outside.
events start.trace \
	"the peer" "[e.name for e in $(open_of reader)] == ['127.0.0.1:' + truth['peer'][0][0]]" \
	"the lock and its owner" "[(e.name, e.other and e.other.name) for e in $(open_of wants-lock)] == [('$LOCK', 'owner')]"

# Native threads, of which nobody was there when they began to poll.
"${CC:-gcc}" -std=gnu11 -O1 -g "$TEST_DIR/hang.c" -o hang -pthread
start_program native.trace.truth ./hang
braid record -q -d 1 -e offcpu -o native.trace -p "$JAVA_PID" 2>err || fail "record: $(cat err)"
events native.trace \
	"the peer of a read" "[e.name for e in at('offcpu', 'receives')] == ['127.0.0.1:' + truth['receive'][0][0]]" \
	"the peer of a poll" "[e.name for e in at('offcpu', 'polls')] == ['127.0.0.1:' + truth['poll'][0][0]]" \
	"the pipe, with its inode" "[(e.name, e.number > 0) for e in at('offcpu', 'reads')] == [('pipe', True)]"
end_program

# The same waits end while they are recorded: a poll was not seen to begin, but its descriptor is still there.
start_program ended.trace.truth ./hang
start_record -q -e offcpu -p "$JAVA_PID" -o ended.trace
wait_for "the recording" answers
go_on
wait_says ended.trace.truth went_on
stop_record
end_program
events ended.trace \
	"the peer of a poll that ended" "[(e.name, e.flags >> 17 & 3) for e in at('offcpu', 'polls')][:1] == [('127.0.0.1:' + truth['poll'][0][0], 2)]"
