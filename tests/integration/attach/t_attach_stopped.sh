#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A stopped JVM is reported during the recording and does not delay its end; when the JVM continues, the agent connects.
source "$(dirname "$0")/../lib.sh"

start_worker jvm
jvm=$JAVA_PID
stop_jvm()
{
	kill -STOP "$jvm"
	wait_for "the JVM to stop" grep -q '^State:.*T' "/proc/$jvm/status"
}

stop_jvm
braid list | finds "^ *$jvm .*no: it is stopped; continue it with .kill -CONT $jvm." || fail "the list: $(braid list)"
start_record -F 499 -p "$jvm" -o stopped.trace
wait_for "a word about it" grep -q "process $jvm has not loaded the agent yet: it is stopped; continue it with .kill -CONT $jvm." record.err
stop_record # although the JVM stays stopped
grep -q "^braid: JVM $jvm (java) has no agent: it is stopped" record.err || fail "the summary: $(cat record.err)"
[[ ! -e /tmp/.attach_pid$jvm ]] || fail "left behind: /tmp/.attach_pid$jvm"
check stopped.trace "the trace says it" 'notice("it is stopped")'

STATUS=0
braid heap "$jvm" >out 2>err || STATUS=$?
[[ $STATUS -eq 1 && ! -s out && $(grep -c "it is stopped" err) -eq 1 ]] || fail "braid heap: status $STATUS, and said once: $(cat err)"
[[ ! -e /tmp/.attach_pid$jvm ]] || fail "braid heap has left /tmp/.attach_pid$jvm"

start_record -F 499 -p "$jvm" -o later.trace
wait_for "a word about it" grep -q "process $jvm has not loaded the agent yet: it is stopped" record.err
kill -CONT "$jvm"
wait_attached "$jvm"
ask jvm burn 300
# The JVM is stopped while the agent is in it.
stop_jvm
stop_record
grep -q "agent of process $jvm did not answer at the end, as the process is stopped" record.err || fail "the end: $(cat record.err)"
! grep 'has no agent' record.err || fail "it has"
kill -CONT "$jvm"
no_leftovers
check later.trace "the agent has come" 'notice("is connected")' \
	"names" 'at_least(weight(with_frame("Worker.spin")), i["samples"]["total"], 50)'
end_worker jvm "$jvm"
! grep -q 'Full thread dump' jvm.out || fail "the JVM was made to dump its threads"
