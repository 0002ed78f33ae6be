#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# All views of a JVM's events agree: the report, its JSON, stacks by event, the page, the script.
# class: long
# takes: 25 s
source "$(dirname "$0")/../lib.sh"

braid record --preset all -e alloc=64k,lock=0,exception=0 -o v.trace -- "$JAVA" -cp "$CLASSES" Views >truth 2>err || fail "$(cat err)"
grep -qx 'raised 1234' truth || fail "the program did not work: $(cat truth err)"
braid report --json --top 100000 v.trace >v.json
braid report --full --top 10 v.trace >v.txt
braid report --html v.html v.trace
braid script v.trace >v.script
for kind in alloc live uncollected lock wait offcpu exception compile; do
	braid export --format collapsed --event "$kind" v.trace >"$kind.stacks" 2>>notes
done
python3 "$LIB_DIR/page.py" v.html v.json
python3 "$TEST_DIR/views.py" "$(java_version)"
for format in chrome firefox perfetto; do
	braid export --format "$format" -o "v.$format" v.trace
done
protoc --decode=perfetto.Trace -I"$(readlink -f "$LIB_DIR/../..")/userspace/export/proto" perfetto.proto <v.perfetto >v.perfetto.txt
python3 "$TEST_DIR/timed.py"

# The same in the JDK's format, as the first and the last JDK read it.
braid export --format jfr -o v.jfr v.trace
braid export --format collapsed --threads v.trace >threads.stacks
need_jdk 11
for home in "$JDK" "$(jdks | tail -n 1)"; do
	"$home/bin/jfr" summary v.jfr >"summary.${home//\//_}" || fail "$home/bin/jfr cannot read it"
done
"$JDK/bin/jfr" print --json --stack-depth 1 --events ExecutionSample,ObjectAllocationSample,JavaMonitorEnter,GCPhasePause v.jfr >printed.json
python3 "$TEST_DIR/jfr_views.py"

for section in 'JVM events' 'Contended monitors' 'Object.wait' 'Off-CPU time' 'Exceptions' 'Compilations' 'Lives of threads' \
	'Start of pid' 'Classes'; do
	grep -q "^$section" v.txt || fail "the report has no '$section'"
done
# shellcheck disable=SC2016 # a class's name
grep -q 'wants-door on Views$Door by holds-door in Views.holdDoor' v.txt || fail "the report does not show who blocked whom: $(grep -A9 '^Contended' v.txt)"

# SQL counts what the report counts, and all ready questions have answers.
braid query --format json v.trace "SELECT kind, count(*) AS count, sum(weight) AS weight FROM events
	WHERE kind != 'offcpu' GROUP BY kind UNION ALL
	SELECT 'offcpu', count(*), sum(weight_ns) FROM offcpu WHERE NOT is_idle" >kinds.json
braid query --format json v.trace "SELECT function, sum(self) AS self, sum(total) AS total FROM methods GROUP BY function" >methods.json
braid export --format sqlite -o v.db v.trace
python3 "$TEST_DIR/sql.py"
for name in $(braid query --list | cut -d ' ' -f 1); do
	braid query --named "$name" --format csv v.trace >"$name.csv" || fail "$name has no answer"
done
waits=$(tr -d '\r' <lock-owners.csv | awk -F , '$1 == "Views$Door" && $4 == "wants-door" { n += $5 } END { print n }')
[[ $waits -eq $(sed -n 's/^contended //p' truth) ]] || fail "lock-owners: $(cat lock-owners.csv)"
# shellcheck disable=SC2016 # a class's name
grep -q '^Views\$Oops,Views.oops,Views.raise,1234' exceptions.csv || fail "exceptions: $(cat exceptions.csv)"

# The middle of the longest wait for the door, and that of a pause.
at_middle()
{
	braid at --json v.trace "$(braid query --format tsv v.trace "SELECT printf('%.9f', (time_ns + duration_ns / 2) / 1e9)
		FROM $1 ORDER BY duration_ns DESC LIMIT 1" | tail -n 1)"
}
at_middle "lock WHERE class = 'Views\$Door'" >at-lock.json
at_middle gc_pause >at-pause.json
python3 - <<-'END'
	import json
	lock, pause = json.load(open("at-lock.json")), json.load(open("at-pause.json"))
	doors = [e for e in lock["events"] if e["kind"] == "lock" and e["name"] == "Views$Door"]
	assert doors and all(e["thread"]["name"] == "wants-door" and e["start_s"] < lock["at_s"] < e["end_s"] for e in doors), doors
	waiters = {t["tid"]: t for t in lock["threads"] if t["name"] == "wants-door"}
	assert {e["thread"]["tid"] for e in doors} <= waiters.keys(), waiters
	assert all(t["lock"]["class"] == "Views$Door" for t in waiters.values() if t["state"] == "monitor"), waiters
	assert lock["threads_recorded"] and not [t for t in lock["threads"] if not t["start_s"] <= lock["at_s"] < t["end_s"]]
	assert [e for e in pause["events"] if e["kind"] == "gc_pause"], pause["events"]
	assert [t for t in pause["threads"] if t["state"] == "gc"], pause["threads"]
END
env --default-signal=INT "$BUILD/braid" query v.trace 'WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n' >endless 2>&1 &
# A background job ignores the signal until env has been replaced.
asks()
{
	[[ /proc/$1/exe -ef $BUILD/braid ]] || gone_or_zombie "$1"
}
wait_for "the question" asks $!
kill -INT $!
wait_end $! "a question without end"
[[ $STATUS -eq 130 ]] || fail "interrupted: $STATUS, $(cat endless)"

# A filter means the same in all views.
# shellcheck disable=SC2016
THREAD=$(sed -n 's|^wants-door [0-9]*/\([0-9]*\) .*braid:lock: class="Views$Door".*|\1|p' v.script | head -n 1)
braid report --json --tid "$THREAD" v.trace >one.json
braid export --format collapsed --event lock --tid "$THREAD" v.trace >one.stacks
braid export --format collapsed --event lock --include '^Views[$]Door$' v.trace >door.stacks
python3 - <<-'END'
	import json
	one, whole = json.load(open("one.json"))["events"], json.load(open("v.json"))["events"]
	weigh = lambda name: sum(int(l.rsplit(" ", 1)[1]) for l in open(name))
	assert one["lock"]["count"] == 1 and "exception" not in one, one.keys()
	assert round(one["lock"]["weight_s"] * 1e9) == weigh("one.stacks")
	doors = [s for s in whole["lock"]["by_name"] if s["name"] == "Views$Door"]
	assert weigh("door.stacks") == round(doors[0]["weight_s"] * 1e9)
END
braid script --event exception v.trace | grep -v '^$' | grep -v "^$(printf '\t')" | grep -v 'braid:exception:' && fail "script --event lets others through"
[[ $(braid script --event exception --top 3 v.trace | grep -c 'braid:exception: ') -eq 3 ]] || fail "--top 3 is not three events"

# Without -e cpu there are no samples, and types that are not enabled have no events.
braid record -e lock -o l.trace -- "$JAVA" -cp "$CLASSES" Views >truth 2>err
check l.trace \
	"no samples" 'i["samples"]["total"] == 0 and stacks == []' \
	"what was chosen is said" 'r["recording"]["record.choices"] == "lock=10us" and "record.event" not in r["recording"]' \
	"only that" 'set(r["events"]) <= {"lock", "phase", "counted", "cpu_load"} and r["events"]["lock"]["count"] >= 5'
braid report --json l.trace >l.json
braid report --full l.trace >l.txt
python3 -c 'import json; j = json.load(open("l.json")); s = j["starts"]; assert j["gc"]["count"] is j["gc"]["mean_s"] is None, j["gc"]; assert s and all(r[k] is None for r in s for k in ("classes",
	"compiled", "threads", "exceptions", "gc_s")), s'
sed -n '/^Start of pid/,/^$/p' l.txt | finds '^  *[0-9.]* s  *-  *-  *-  *-  *-  init$' || fail "zeros of what was not recorded: $(cat l.txt)"
braid info --json l.trace | python3 -c 'import json, sys; j, = json.load(sys.stdin)["jvms"]; assert j["methods"] > 0 and j["code_loads"] > 0 and all(
	j[k] is None for k in ("gc_pauses", "threads_started", "threads_ended")), j' || fail "info has zeros of what was not recorded"
! grep -q 'GC pauses' l.txt || fail "pauses, which were not recorded"
braid export --format collapsed --event alloc l.trace 2>err >none || fail "a kind that is not there is no error"
[[ ! -s none ]] || fail "allocations in a trace of locks"
grep -q "no 'alloc' events" err || fail "no message about missing events: $(cat err)"
STATUS=0
braid export --format collapsed --event nonsense l.trace 2>err || STATUS=$?
if [[ $STATUS -ne 1 ]] || ! grep -q "'nonsense' is neither a kind of events nor an event of l.trace; use one of: cpu, alloc" err; then
	fail "an unknown kind: $STATUS, $(cat err)"
fi
