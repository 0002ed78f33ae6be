#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whether what a Java thread was parked for was read: a sleep is for nothing, a queue's condition is read, and in what is too
# short, or has its stack taken at its start, nobody looks.
source "$(dirname "$0")/../lib.sh"

record()
{
	"${UNDISTURBED[@]}" "$BUILD/braid" record -q -e "$2" -o "$1.trace" -- "$JAVA" -cp "$CLASSES" Blocked <<<'' >truth 2>err || fail "$(cat err)"
}

# The first moments of a thread, and what a collector moves, may be missing.
looked="e.flags & 0x2000000"
of_place="lambda name, place: [e for e in of('offcpu') if e.thread.name == name and place in e.stack and e.flags >> 20 & 15 == 2]"
record some offcpu=10us
events some.trace \
	"naps are for nothing" "any($looked and not e.name for e in ($of_place)('napper', 'Blocked.naps'))" \
	"and never for something" "not any(e.name for e in ($of_place)('napper', 'Blocked.naps') + ($of_place)('parker', 'Blocked.parks'))" \
	"so are parks" "any($looked for e in ($of_place)('parker', 'Blocked.parks'))" \
	"a queue has a condition" "any($looked and 'Condition' in e.name for e in ($of_place)('taker', 'Blocked.takes'))" \
	"names are of what was looked at" "all($looked for e in of('offcpu') if e.name and e.flags >> 20 & 15 == 2)" \
	"nobody looks at what is too short" "not any($looked for e in of('offcpu') if e.duration_ns < 50000)"
braid script some.trace >some.txt
grep -qE 'napper.* braid:offcpu: .*blocker="none"' some.txt || fail "the script has no sleep for nothing"
grep -qE 'taker.* braid:offcpu: .*object="Condition of [^"]+".* blocker="read"' some.txt || fail "the script has no condition that was read"

record none offcpu=0ns
events none.trace "nobody looks" "not any($looked for e in of('offcpu') if not e.flags & 0x60000)"
for trace in some none; do
	braid query --format csv $trace.trace "SELECT DISTINCT name, blocker FROM offcpu JOIN threads USING (thread_id)
		WHERE name IN ('napper', 'taker') AND class = 'futex' AND duration_ns > 40e6 AND NOT not_ended" | tr -d '\r' >$trace.csv
done
for row in napper,none taker,read; do
	grep -qx "$row" some.csv || fail "no $row: $(cat some.csv)"
done
grep -qx 'napper,not read' none.csv || fail "a sleep was looked at: $(cat none.csv)"
braid report --full none.trace | grep -E '^ *blocker +[0-9]+ .*parked, and not read for what$' >/dev/null ||
	fail "the report does not say that nobody looked: $(braid report --full none.trace)"
