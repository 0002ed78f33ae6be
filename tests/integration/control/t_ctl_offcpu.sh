#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Times off the CPU that are enabled while a recording runs, and disabled again: those in between are all there. Threads
# that exist then have lives from then on, of which the time after the end is only counted: also one that has been
# followed for locks before, and sleeps all the time.
source "$(dirname "$0")/../lib.sh"

start_program truth "$JAVA" -cp "$CLASSES" Blocked
start_record -F 99 -e cpu,lock -p "$JAVA_PID" -o c.trace
wait_attached "$JAVA_PID"

# run_once N: the program's threads live once more, for the Nth time.
run_once()
{
	go_on
	wait_for "the end of turn $1" turns_done "$1"
}
turns_done()
{
	[[ $(grep -c '^end' truth) -ge $1 ]]
}

run_once 1
kill -QUIT "$JAVA_PID"
wait_for "the JVM's answer to a signal" grep -q '^JNI global ref' truth
braid ctl "$JAVA_PID" enable offcpu=1ms
wait_answered
braid ctl "$JAVA_PID" status | finds 'connected: cpu,.*offcpu=1ms' || fail "$(braid ctl "$JAVA_PID" status)"
run_once 2
braid ctl "$JAVA_PID" disable offcpu
wait_answered
run_once 3
stop_record
exec {IN}>&-
wait_end "$JAVA_PID" "the program"

# off NAME FRAME: a thread's intended times off the CPU; waits for a CPU are none.
off()
{
	echo "[e for e in at('offcpu', 'Blocked.$2') if e.thread.name == '$1' and e.duration_ns - e.value > 25e6]"
}
events c.trace \
	"the sleeps of one turn" "len($(off napper naps)) == 15" \
	"and its parks" "len($(off parker parks)) == 15" \
	"of one thread" "len({e.thread.tid for e in of('offcpu') if e.thread.name == 'napper'}) == 1" \
	"nothing lost" "lost == []"
braid report --wall --json c.trace >wall.json
python3 - <<'END'
import json
lives = json.load(open("wall.json"))["lives"]
known = [t for t in lives if t["known"]]
assert [t["name"] for t in known].count("napper") == 1, [t["name"] for t in known]
for t in known:
    parts = sum(t["states_s"].values())
    assert abs(parts - t["life_s"]) < 1e-6, t
    if t["name"] in ("napper", "parker", "taker", "giver", "locker", "main", "Signal Dispatcher"):
        assert t["states_s"].get("unknown", 0) + t["excess_s"] <= t["life_s"] * 0.001 + 2e-5, t
assert [t for t in known if t["name"].startswith("Signal Dispatch")], [t["name"] for t in known]
main = next(t for t in known if t["name"] == "main")
assert main["start_s"] > 0 and main["life_s"] < main["end_s"], main
END
