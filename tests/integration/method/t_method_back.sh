#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Timing begins and ends in a running JVM, by ctl, with the recording, and with a recorder that is killed. The class is as it
# was each time.
# takes: 15 s
source "$(dirname "$0")/../lib.sh"

lib=$BUILD/rewrite/librewrite.so
"$JAVA" -Xmx64m "-agentpath:$lib=$BUILD/agent/java" -cp "$CLASSES:$BUILD/rewrite/java" Timings 100000 "$lib" >out 2>err &
JAVA_PID=$!
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

more_rounds()
{
	[[ $(grep -c '^CLASS' out) -ge $1 ]]
}

# A whole round of calls follows.
wait_rewritten()
{
	wait_for "timed methods" is_rewritten
	wait_for "two more rounds" more_rounds $(($(grep -c '^CLASS' out) + 2))
}

as_before()
{
	[[ $(class) == "$before" ]]
}

start_record -e cpu,method='Timings.busy>1ms' -o a.trace -p "$JAVA_PID"
wait_rewritten
stop_record
as_before || wait_for "the class as it was, at the end" as_before
events a.trace "timed" 'len(of("method")) > 0 and {e.name for e in of("method")} == {"Timings.busy"}'

start_record -e cpu -o b.trace -p "$JAVA_PID"
wait_joined "$JAVA_PID"
braid ctl "$RECORD_PID" enable 'method=Timings.failing>1ms,method=Timings.caught>1ms' >ctl.out
grep -qF "cpu,method=Timings.failing>1ms,method=Timings.caught>1ms" ctl.out || fail "enable: $(cat ctl.out)"
wait_rewritten
braid ctl "$RECORD_PID" interval 'method=Timings.failing>500ms' >ctl.out
braid ctl "$RECORD_PID" disable method >ctl.out
wait_for "the class as it was, when it is disabled" as_before
stop_record
events b.trace "by ctl" '{e.name for e in of("method_calls")} == {"Timings.failing", "Timings.caught"}'

start_record -e 'method=Timings.*>1ms' -o c.trace -p "$JAVA_PID"
wait_for "timed methods" is_rewritten
kill -KILL "$RECORD_PID"
wait_for "the class as it was, after the recorder was killed" as_before
kill "$JAVA_PID"
[[ ! -s err ]] || [[ $(grep -vc '^WARNING: \|^OpenJDK' err) -eq 0 ]] || fail "the JVM says: $(cat err)"
