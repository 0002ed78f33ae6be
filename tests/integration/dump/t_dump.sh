#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `braid threads` names deadlocks of monitors, of locks and of both, and shows every other thread in its state, with its
# whole stack. Nothing is left in the JVM.
# shellcheck disable=SC2016 # names of classes have dollar signs
# class: long
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/dumps.sh"

left_alone()
{
	! has_helper "$JAVA_PID" && ! has_ring "$JAVA_PID"
}

# What is started in the background is this shell until it executes its program.
sleeps()
{
	[[ $(readlink "/proc/$1/exe") == */sleep && $(grep -c '^State:.*S' "/proc/$1/status") -eq 1 ]]
}

# The VM wakes threads that wait for a monitor now and then: one that is awake waits for nothing in that dump.
says_all()
{
	STATUS=0
	braid threads "$JAVA_PID" --deadlocks >text 2>err || STATUS=$?
	[[ $STATUS -eq 4 ]] || fail "--deadlocks: status $STATUS: $(cat text err)"
	[[ $(grep -c '^Deadlock of 2 threads:$' text) -eq 3 ]]
}

# The dumps that the recorder has written are in its trace, which it flushes each second: the last one has all.
has_all()
{
	[[ $(braid script --event dump dumps.trace 2>/dev/null | grep -c '^monitor-1 .* braid:dump: ') -ge 2 ]] || return 1
	STATUS=0
	braid threads dumps.trace --at 1000 --json >dump.json 2>err || STATUS=$?
	[[ $STATUS -ne 0 ]] &&
		says 'dead == [("lock-1", "lock-2"), ("mixed-1", "mixed-2"), ("monitor-1", "monitor-2")]' "${OTHERS[@]:4}" 2>said
}

deadlocks "$JAVA_HOME" "$CLASSES"
wait_for "all deadlocks in one dump" says_all
grep -q '^    "monitor-1" tid [0-9]* waits for the monitor of a Deadlocks$Inner, which "monitor-2" tid [0-9]* owns$' \
	text || fail "--deadlocks does not say who waits for whom: $(cat text)"
! grep -q '^[0-9]* threads, ' text || fail "--deadlocks shows other threads: $(cat text)"

# Who owns which monitor, by which frame, as text; deadlocks() has looked at it as JSON.
braid threads "$JAVA_PID" --locks >text 2>err && fail "--locks: no deadlock"
grep -q '^[0-9]* monitors owned, as the JVM said .* later, for which it stood still for at most ' text || fail "--locks: $(cat text)"
grep -A1 '^    "owner" tid ' text | finds '^        owns Deadlocks$Owned, locked in Deadlocks.own, Java frame [1-9]$' ||
	fail "--locks: no owner: $(cat text)"

# A recording takes such dumps at an interval, and its readers have each of them, and the deadlocks in all of them. `ctl`
# ends them.
start_record -e gc,dump=1s -o dumps.trace -p "$JAVA_PID"
wait_for "two dumps, and one with all deadlocks" has_all
braid ctl "$JAVA_PID" disable dump >/dev/null 2>err || fail "ctl: $(cat err record.err)"
braid ctl "$RECORD_PID" stop >/dev/null 2>err || fail "ctl: $(cat err record.err)"
wait "$RECORD_PID" || fail "record: $(cat record.err)"
braid report --full dumps.trace >text || fail "report"
DUMPS=$(sed -n '/^Thread dumps$/{n;s/^  \([0-9]*\), .*/\1/p}' text)
[[ $DUMPS -ge 2 && $(grep -c "^  process $JAVA_PID, in [0-9]* of $DUMPS dumps, " text) -eq 3 ]] ||
	fail "report has no deadlocks: $(grep -A20 '^Thread dumps' text)"
STATUS=0
braid threads dumps.trace --at 1000 >text 2>err || STATUS=$?
[[ $STATUS -eq 4 ]] || fail "a trace with deadlocks ends with status $STATUS: $(cat text err)"
STATUS=0
braid threads dumps.trace --at 0 >text 2>err || STATUS=$?
[[ $STATUS -eq 1 && ! -s text ]] || fail "too early: status $STATUS: $(cat text err)"
grep -q 'no thread dump that early: its first one began at ' err || fail "too early: $(cat err)"
end_program

# The same without the agent, in a JVM that refuses it: names, states, objects and owners are read in its memory. When that
# fails, braid does not know of a deadlock and says so.
deadlocks "$JAVA_HOME" "$CLASSES" -XX:+DisableAttachMechanism
python3 "$LIB_DIR/programs/alter_libjvm.py" "$JAVA_PID" threads || fail "the list of threads has another name"
STATUS=0
braid threads "$JAVA_PID" >text 2>err || STATUS=$?
[[ $STATUS -eq 0 && $(head -1 text) == *'; deadlocks not known: what '*' threads wait for could not be read' ]] ||
	fail "deadlocks are not known: $STATUS $(head -1 text) $(cat err)"
STATUS=0
braid threads "$JAVA_PID" --deadlocks --json -o unread.trace >dump.json 2>err || STATUS=$?
[[ $STATUS -eq 1 && $(cat dump.json) == *'"deadlocks":null'* ]] || fail "--deadlocks: $STATUS $(cat dump.json err)"
braid report --full unread.trace | grep -A1 '^Deadlocks$' | finds '  not known of 1 dump: what threads wait for could not be read' ||
	fail "report: $(braid report --full unread.trace)"
end_program

# Without a deadlock: the same threads, and status 0; the trace can be kept.
start_program out "$JAVA" -Xmx64m -cp "$CLASSES" Deadlocks free
takes "no deadlock" 0 'dead == []' "${OTHERS[@]}"
# The VM may have woken the one that waits for a monitor, see says_all().
kept()
{
	braid threads "$JAVA_PID" --all -o kept.trace >text 2>err || fail "--all: $(cat err)"
	[[ $(grep -c '^"sleeping" tid ' text) -eq 1 ]] || fail "--all: $(cat text)"
	braid script --event dump kept.trace | finds 'braid:dump:.* class="Deadlocks\$Owned".* owner="owner"'
}
wait_for "a trace with the dump" kept

wait_for "the end of the agent" left_alone
braid threads "$JAVA_PID" --no-attach --json >dump.json 2>err || fail "--no-attach: $(cat err)"
says 'dead == []' 'is_in("waiting", "WAITING", "sleeping", "waiting for notify", "waitForNotify")' || fail "--no-attach: $(cat err)"
left_alone || fail "--no-attach attached"
end_program

# A program that is no JVM; one that does not exist.
sleep 1000 &
wait_for "sleep" sleeps $!
braid threads $! >text 2>err || fail "sleep: $(cat err)"
STATUS=0
braid threads $! --locks >text2 2>err || STATUS=$?
[[ $STATUS -eq 1 && $(cat err) == *' is not a JVM; `braid list` shows the JVMs' && $(cat text2) == process*': 1 thread: 1 sleeping'* ]] || fail "--locks of sleep: $STATUS $(cat text2 err)"
kill $!
grep -q '^process [0-9]*: 1 thread: 1 sleeping; 0 deadlocks$' text || fail "sleep: $(cat text)"
grep -q ' clock_nanosleep$' text || fail "sleep has no stack: $(cat text)"
STATUS=0
braid threads 4194304 >text 2>err || STATUS=$?
[[ $STATUS -eq 1 && ! -s text && $(wc -l <err) -eq 1 ]] || fail "no process: $STATUS $(cat text err)"
