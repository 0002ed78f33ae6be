#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Events of single threads: of named threads only, until the types are enabled for all again.
# class: long
source "$(dirname "$0")/../lib.sh"

[[ $(java_version) -ge 11 ]] || skip "sampled allocations came with JDK 11"

# refused TEXT ARGUMENT...
refused()
{
	local text=$1 status=0

	shift
	braid ctl "$@" >out 2>err || status=$?
	[[ $status -eq 1 ]] || fail "ctl $*: exit status $status: $(cat out err)"
	grep -q "$text" err || fail "ctl $*: expected '$text': $(cat err)"
}
# tid_of COMM
tid_of()
{
	local task

	for task in /proc/"$JAVA_PID"/task/*; do
		[[ $(cat "$task/comm") != "$1" ]] || basename "$task"
	done
}

mkfifo pair.in
"$JAVA" -cp "$CLASSES" Pair <pair.in >pair.out 2>pair.err &
JAVA_PID=$!
open_worker pair
# A thread gets its name when it runs.
named()
{
	first=$(tid_of pair-0)
	second=$(tid_of pair-1)
	[[ -n $first && -n $second ]]
}
wait_for "the names of both threads" named
vm=$(tid_of "VM Thread")

start_record -e alloc=1m,lock=1ns -p "$JAVA_PID" -o a.trace
wait_attached "$JAVA_PID"
wait_events "$JAVA_PID"
change()
{
	braid ctl "$JAVA_PID" "$@" >out 2>err || fail "ctl $*: $(cat out err)"
	wait_answered
	ask pair round
}
ask pair round
change enable alloc,lock "thread=$first"
grep -q " thread=$first:alloc,lock" out || fail "the enabled types: $(cat out)"
change enable lock "thread=$second"
change disable lock "thread=$first"
braid ctl "$JAVA_PID" status --json >status.json
python3 - "$first" "$second" <<'END' || fail "status: $(cat status.json)"
import json, sys
t = {t["tid"]: set(t["choices"]) for t in json.load(open("status.json"))[0]["jvms"][0]["threads"]}
assert t == {int(sys.argv[1]): {"alloc"}, int(sys.argv[2]): {"lock"}}, t
END
change disable lock "thread=$second"
change enable lock
change enable alloc

refused "can be enabled and disabled for one thread" "$JAVA_PID" enable gc "thread=$first"
refused "can be enabled and disabled for one thread" "$JAVA_PID" enable lock,class "thread=$first"
refused "no such thread" "$JAVA_PID" enable lock thread=1
refused "instead of the recorder" "$RECORD_PID" enable lock "thread=$first"
refused "was not enabled separately" "$JAVA_PID" disable lock "thread=$first"
change enable lock "thread=$vm"
change enable lock "thread=$second"
stop_record

# A phase is the time between two changes. by_phase KIND EXPRESSION: the values of the expression, with the `n` events
# of pair-0 and pair-1, for each phase that has any
by_phase()
{
	echo "[[$2 for n in (len([1 for name, p in seen if (name, p) == (t, phase)]) for t in ('pair-0', 'pair-1'))]
		for times in [[c.time_ns for c in of('config')]]
		for seen in [[(e.thread.name, sum(c < e.time_ns for c in times)) for e in $1 if e.thread.name.startswith('pair-')]]
		for phase in sorted({p for name, p in seen})]"
}
events a.trace \
	"locks" "$(by_phase 'of("lock", name="java.lang.Object")' n) == [[1, 1], [1, 0], [1, 1], [0, 1], [1, 1], [1, 1], [0, 1]]" \
	"allocations" "$(by_phase 'of("alloc")' 'n > 0') == [[True, True]] + [[True, False]] * 5 + [[True, True]] * 3" \
	"the thread that is not Java's" 'any("is not a Java thread" in str(n) for n in notices)' \
	"nothing lost" 'lost == []'

# The next recording starts without them.
start_record -e lock=1ns -p "$JAVA_PID" -o b.trace
wait_attached "$JAVA_PID"
wait_events "$JAVA_PID"
ask pair round
stop_record
events b.trace "both again" 'sorted(e.thread.name for e in of("lock", name="java.lang.Object")) == ["pair-0", "pair-1"]'
start_record -e alloc -p "$JAVA_PID" -o c.trace
wait_attached "$JAVA_PID"
wait_events "$JAVA_PID"
ask pair round
stop_record
events c.trace "no locks" 'of("lock") == []'
end_worker pair "$JAVA_PID"
