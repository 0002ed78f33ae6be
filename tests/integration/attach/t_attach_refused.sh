#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A JVM that refuses attaching is recorded natively, and the trace explains why.
source "$(dirname "$0")/../lib.sh"

start_worker jvm -XX:+DisableAttachMechanism
start_record -F 997 -p "$JAVA_PID" -o r.trace
wait_sampling
burn jvm 300
stop_record
grep -q "process $JAVA_PID.*DisableAttachMechanism" record.err || fail "no word about it: $(cat record.err)"
check r.trace \
	"samples" 'i["samples"]["total"] >= 300 and alike("old-0", "old-1")' \
	"the notice" "notice('DisableAttachMechanism')"
braid info r.trace | finds DisableAttachMechanism || fail "info does not say it"
braid list | finds "^ *$JAVA_PID .*DisableAttachMechanism" || fail "list does not say it"
ask jvm burn 10
end_worker jvm "$JAVA_PID"

# With --no-attach there is no agent.
start_worker other
start_record -F 997 --no-attach -p "$JAVA_PID" -o o.trace
wait_sampling
burn other 200
stop_record
! grep -q libbraid-agent "/proc/$JAVA_PID/maps" || fail "--no-attach attached"
check o.trace "samples" 'i["samples"]["total"] >= 200 and alike("old-0", "old-1")'
end_worker other "$JAVA_PID"

# An agent that cannot connect is reported however short the recording is.
"${CC:-gcc}" -std=gnu11 -O1 "$LIB_DIR/programs/seccomp.c" -o filtered
attached()
{
	grep -q libbraid-agent "/proc/$JAVA_PID/maps" && [[ -z $(cat "/proc/$RECORD_PID/task/$RECORD_PID/children") ]]
}
PREFIX="./filtered connect" start_worker alone
start_record -F 997 -p "$JAVA_PID" -o a.trace
wait_for "the agent to be loaded" attached
stop_record
grep -q "process $JAVA_PID: the agent was loaded but did not connect" record.err || fail "no word about it: $(cat record.err)"
check a.trace "the notice" "notice('did not connect')"
end_worker alone "$JAVA_PID"
