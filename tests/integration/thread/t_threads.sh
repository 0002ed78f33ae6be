#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# As many threads begin and end as the program starts.
source "$(dirname "$0")/../lib.sh"

start_worker jvm
ask jvm threads 11
start_record -F 997 -p "$JAVA_PID" -o t.trace
wait_attached "$JAVA_PID"
ask jvm threads 37
stop_record
end_worker jvm "$JAVA_PID"
braid script t.trace >script.txt
for what in start end; do
	[[ $(grep -c "^young-[0-9]* .*braid:thread_$what:" script.txt) -eq 37 ]] ||
		fail "not 37 threads: $(grep "braid:thread_$what:" script.txt)"
	[[ $(grep "^young-[0-9]* .*braid:thread_$what:" script.txt | sort -u -k 1,1 | wc -l) -eq 37 ]] ||
		fail "not 37 names: $(grep "braid:thread_$what:" script.txt)"
done
! grep 'braid:thread_start: name="braid agent"' script.txt || fail "the agent's own thread is no thread that the program started"
check t.trace \
	"info has the script's counts" "jvm($JAVA_PID)['threads_started'] == $(grep -c 'braid:thread_start:' script.txt) and
		jvm($JAVA_PID)['threads_ended'] == $(grep -c 'braid:thread_end:' script.txt)" \
	"the young threads were sampled" 'at_least(sum(t["name"].startswith("young-") for t in r["threads"]), 37, 90)'

# From the start on, the JVM's own count is the truth.
PREFIX="$BUILD/braid record -F 99 -o l.trace --" start_worker all
wait_child "$JAVA_PID" java
ask all threads 23
ask all started
end_worker all "$JAVA_PID"
braid script l.trace >script.txt
[[ $(grep -c '^young-[0-9]* .*braid:thread_start:' script.txt) -eq 23 ]] || fail "not 23 threads: $(grep thread_start: script)"
check l.trace "as many as the JVM says (${ANSWER##* })" "jvm($CHILD)['threads_started'] >= ${ANSWER##* }"
