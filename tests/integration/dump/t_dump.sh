#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `braid threads` names deadlocks of monitors, of locks and of both, and shows every other thread in its state, with its
# whole stack. Nothing is left in the JVM.
# shellcheck disable=SC2016 # names of classes have dollar signs
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/dumps.sh"

left_alone()
{
	! has_helper "$JAVA_PID" && ! has_ring "$JAVA_PID"
}

deadlocks "$JAVA_HOME" "$CLASSES"
STATUS=0
braid threads "$JAVA_PID" --deadlocks >text 2>err || STATUS=$?
[[ $STATUS -eq 4 ]] || fail "--deadlocks: status $STATUS: $(cat text err)"
[[ $(grep -c '^Deadlock of 2 threads:$' text) -eq 3 ]] || fail "--deadlocks: $(cat text)"
grep -q '^    "monitor-1" tid [0-9]* waits for the monitor of a Deadlocks$Inner, which "monitor-2" tid [0-9]* owns$' \
	text || fail "--deadlocks does not say who waits for whom: $(cat text)"
! grep -q '^[0-9]* threads, ' text || fail "--deadlocks shows other threads: $(cat text)"
end_program

# Without a deadlock: the same threads, and status 0; the trace can be kept.
start_program out "$JAVA" -Xmx64m -cp "$CLASSES" Deadlocks free
takes "no deadlock" 0 'dead == []' "${OTHERS[@]}"
braid threads "$JAVA_PID" --all -o kept.trace >text 2>err || fail "--all: $(cat err)"
[[ $(grep -c '^"sleeping" tid ' text) -eq 1 ]] || fail "--all: $(cat text)"
braid script --event dump kept.trace | finds 'braid:dump:.* class="Deadlocks\$Owned".* owner="owner"' ||
	fail "the trace has no dump"

# Without the agent there are stacks, but nothing of Java's threads.
braid threads "$JAVA_PID" --no-attach --json >dump.json 2>err || fail "--no-attach: $(cat err)"
says '"Deadlocks.waitForNotify" in [f["name"] for f in threads["waiting"]["stack"]]' || fail "--no-attach"
wait_for "the end of the agent" left_alone
end_program

# A program that is no JVM; one that does not exist.
sleep 1000 &
braid threads $! >text 2>err || fail "sleep: $(cat err)"
kill $!
grep -q '^process [0-9]*: 1 thread: 1 sleeping; 0 deadlocks$' text || fail "sleep: $(cat text)"
grep -q ' clock_nanosleep$' text || fail "sleep has no stack: $(cat text)"
STATUS=0
braid threads 4194304 >text 2>err || STATUS=$?
[[ $STATUS -eq 1 && ! -s text && $(wc -l <err) -eq 1 ]] || fail "no process: $STATUS $(cat text err)"
