#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# JVMs of one user that mount more virtual threads than are followed: all of them together leave room for those of
# another user's JVM, and what those that have ended had is free for the others.
# class: long
# takes: 10 s
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/hostile.sh"

need_jdk 21
"$JDK/bin/javac" --release 21 -d . "$TEST_DIR/../thread/java21/VParks.java"
start_hostile mounts.{1..3}
pids=$(IFS=, && echo "${HOSTILE_PID[*]}")
start_program mounts.trace.truth "$JDK/bin/java" -XX:+EnableDynamicAgentLoading -cp . VParks 100 wait
start_record -q -e offcpu -p "$pids,$JAVA_PID" -o mounts.trace
echo "$RECORD_PID" >room/recorder
wait_joined "$JAVA_PID"
wait_under_way mounts.{1..3}
go_on
wait_says mounts.trace.truth end
kill -KILL "${PIDS_OF[mounts.1]}" "${PIDS_OF[mounts.2]}"
wait_for "room for all of the third one's" says_or_gone mounts.3.out all "${PIDS_OF[mounts.3]}"
end_hostile
end_program
end_record
export EVENTS_OF=$JAVA_PID
events mounts.trace \
	"the life of each virtual thread, and nothing of them lost" "len(truth['off']) == 100 and lost_by($JAVA_PID) == [] and
		{int(row[1]) for row in truth['off']} <= {t.virtual.number for t in of('thread_time') if t.virtual}" \
	"what has no room is counted for who asked" "all(('bpf', 'thread_time') in {row[:2] for row in lost_by(pid)} for pid in ($pids))"
