#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Which global and weak JNI references are there: exact counts by stack and class, on request and at the end; the table of
# JNI functions is as it was afterwards.
# takes: 10 s
source "$(dirname "$0")/../lib.sh"
source "$TEST_DIR/user.sh"

start_user -XX:+UseG1GC
say leak 50
table
before=$TABLE

start_record -q -e jni -o a.trace -p "$JAVA_PID"
wait_events "$JAVA_PID"
table
[[ $TABLE != "$before" ]] || fail "no JNI function is hooked"
say leak 300
braid ctl "$RECORD_PID" dump >/dev/null
wait_for "the first report" reports a.trace jni_refs 1
say weak 30
say threads 500
say free 120
stop_record
wait_for "the table as it was" table_is "$before"

events a.trace \
	"two reports" "len(of('jni_refs')) == 2" \
	"the first one" "sum(e['value'] for e in of('jni_ref') if e.time_ns + e.duration_ns == of('jni_refs')[0].time_ns and e.name == 'java.lang.String[]') == 300" \
	"created and deleted" "[(e['value'], e.weight, e.number, e.flags) for e in of('jni_refs')][-1] == (360 + 4000, 120 + 4000, 0, 0)" \
	"no complaint" "notices == [] and lost == []"

# The reports have the last one.
braid export --event jni_ref a.trace >stacks
of()
{
	grep "$1" stacks | awk '{ sum += $NF } END { print +sum }'
}
[[ $(of 'JniUser.leak;JniUser.keep;Java_JniUser_keep.*;java.lang.String\[\] ') -eq 180 ]] || fail "180 arrays: $(cat stacks)"
[[ $(of 'JniUser.leakWeak;JniUser.keepWeak;Java_JniUser_keepWeak.*;int\[\] ') -eq 30 ]] || fail "30 objects: $(cat stacks)"
[[ $(of 'JniUser.leakWeak;JniUser.keepWeak;Java_JniUser_keepWeak.*;(cleared) ') -eq 30 ]] || fail "30 are gone: $(cat stacks)"
[[ $(of .) -eq 240 ]] || fail "more references: $(cat stacks)"
braid report --full a.trace >tables
for line in '^ *75.00% *180 .* java.lang.String\[\]$' '^ *25.00% *60 .* weak global$' 'until .*: 4360 created, 4120 of them deleted, and 0 older ones$'; do
	grep -q "$line" tables || fail "the report has no '$line': $(sed -n '/^JVM events/,/^Stack/p' tables)"
done
braid report --json a.trace | python3 -c '
import json, sys
r, = json.load(sys.stdin)["jni_references"]
assert (r["created"], r["deleted"], r["not_watched"], r["others_deleted"]) == (4360, 4120, 0, 0), r'

# No more than that are watched; the others are counted. References that are older are deleted. A return probe of a native
# method's code has its calls.
start_record -q -e "jni=20,uretprobe:$CLASSES/libuser.so:Java_JniUser_keep{elapsed}" -o b.trace -p "$JAVA_PID"
wait_events "$JAVA_PID"
say free 40
say leak 70
stop_record
events b.trace \
	"there is an end to it" "sum(e['value'] for e in of('jni_ref')) == 20" \
	"what is left out is counted" "[(e['value'], e.weight, e.number, e.flags) for e in of('jni_refs')] == [(70, 0, 50, 40)]"
braid report --json b.trace | python3 -c '
import json, sys
n, = [n for n in json.load(sys.stdin)["native_methods"] if n["method"] == "JniUser.keep"]
assert n["calls"] == 70 and 0 < n["longest_call_ns"] <= n["call_ns"] <= 70 * n["longest_call_ns"], n'
end_user
