#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Watching begins and ends in a running JVM, by ctl, beside timed methods, with the recording, and with a recorder that is killed.
# The classes that write are as they were each time, and the program computes what it did.
# takes: 15 s
# shellcheck disable=SC2016 # names of Java classes
source "$(dirname "$0")/../lib.sh"

lib=$BUILD/rewrite/librewrite.so
mkfifo in
"$JAVA" -Xmx64m -Xverify:all "-agentpath:$lib=$BUILD/agent/java" -cp "$CLASSES:$BUILD/rewrite/java" Writes 0 "$lib" <in >out 2>err &
JAVA_PID=$!
exec 3>in
trap 'kill "$JAVA_PID" 2>/dev/null || true' EXIT
wait_for "the program" says_or_gone out '^CLASS' "$JAVA_PID"

class()
{
	grep '^CLASS' out | tail -n 1
}
before=$(class)

is_rewritten()
{
	[[ $(class) != "$before" ]]
}

as_before()
{
	[[ $(class) == "$before" ]]
}

more_rounds()
{
	[[ $(grep -c '^CLASS' out) -ge $1 ]]
}

wait_rewritten()
{
	wait_for "watched fields" is_rewritten
	wait_for "two more rounds" more_rounds $(($(grep -c '^CLASS' out) + 2))
}

start_record -e cpu,'field=Writes$Account.version/old,new/' -o a.trace -p "$JAVA_PID"
wait_rewritten
stop_record
as_before || wait_for "the class as it was, at the end" as_before
events a.trace \
	"watched" '{(e.name, e.detail) for e in of("field") if e.detail != "Writes.nowhere"} == {("Writes$Account.version", "Writes$Account.deposit")}' \
	"values" '{e.text for e in of("field")} == {"old=0, new=1"}'

start_record -e cpu -o b.trace -p "$JAVA_PID"
wait_joined "$JAVA_PID"
braid ctl "$RECORD_PID" enable 'field=Writes$Account.owner/new/,method=Writes.round>0' >ctl.out
grep -qF 'cpu,method=Writes.round>0ns,field=Writes$Account.owner/new/' ctl.out || fail "enable: $(cat ctl.out)"
wait_rewritten
braid ctl "$RECORD_PID" disable field >ctl.out
! grep -q field= ctl.out || fail "disable: $(cat ctl.out)"
wait_for "the class as it was, when it is disabled" as_before
wait_for "two more rounds" more_rounds $(($(grep -c '^CLASS' out) + 2))
stop_record
events b.trace \
	"by ctl" '{(e.name, e.detail) for e in of("field_writes")} == {("Writes$Account.owner", w) for w in ("Writes$Account.<init>", "Writes.round")}' \
	"methods go on" 'max(e.time_ns for e in of("method")) > max(e.time_ns for e in of("field"))'

start_record -e 'field=Writes*.*/old,new/' -o c.trace -p "$JAVA_PID"
wait_rewritten
kill -KILL "$RECORD_PID"
wait_for "the class as it was, after the recorder was killed" as_before
echo >&3
wait_end "$JAVA_PID" "the program"
rounds=$(grep -c '^CLASS' out)
[[ $(grep '^SUM' out) == "$("$JAVA" -cp "$CLASSES" Writes "$rounds" | grep '^SUM')" ]] || fail "the program computes another sum: $(tail -n 1 out)"
[[ ! -s err ]] || [[ $(grep -vc '^WARNING: \|^OpenJDK' err) -eq 0 ]] || fail "the JVM says: $(cat err)"
