#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# JNI functions are hooked and put back many times while threads use them, by ctl, and when the recorder is killed. What
# another agent has put in front stays there, and goes on working.
# takes: 15 s
source "$(dirname "$0")/../lib.sh"
source "$TEST_DIR/user.sh"

start_user -XX:+UseG1GC
table
before=$TABLE

start_record -q -e cpu -o a.trace -p "$JAVA_PID"
wait_joined "$JAVA_PID"
for _ in 1 2 3 4 5; do
	echo "threads 3000" >&"$IN"
	braid ctl "$RECORD_PID" enable jni,jni-critical >/dev/null
	braid ctl "$RECORD_PID" disable jni >/dev/null
	braid ctl "$RECORD_PID" enable jni=1000 >/dev/null
	braid ctl "$RECORD_PID" disable jni,jni-critical >/dev/null
done
say leak 1
wait_for "the table as it was" table_is "$before"
braid ctl "$RECORD_PID" enable jni >/dev/null
say leak 10
kill -KILL "$RECORD_PID"
wait_for "the table as it was, after the recorder was killed" table_is "$before"

# Another agent comes during the recording, and stays.
start_record -q -e jni -o b.trace -p "$JAVA_PID"
wait_events "$JAVA_PID"
say leak 10
say cover 1
say leak 10
stop_record
say cover 0
grep -q '^COVER in front 10$' out || fail "the other agent's function: $(grep COVER out)"
events b.trace \
	"all references are seen" "of('jni_refs')[-1]['value'] == 20" \
	"a notice says whose function it is" "[n for n in notices if 'another agent has replaced JNI functions (1) during' in n]"

# It has put back what it found: the hook. The next recording uses it, and takes it away.
start_record -q -e jni -o c.trace -p "$JAVA_PID"
wait_events "$JAVA_PID"
say leak 10
stop_record
wait_for "the table as it was" table_is "$before"
events c.trace "all references are seen" "of('jni_refs')[-1]['value'] == 10" "no complaint" "notices == []"
end_user
