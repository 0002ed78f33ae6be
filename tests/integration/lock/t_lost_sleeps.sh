#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recorder that is stopped: sleeps of a JVM's threads, and hits of its probes, then find no room and are counted for
# that JVM.
# takes: 15 s
source "$(dirname "$0")/../lib.sh"

start_worker jvm -XX:+UseParallelGC -XX:ParallelGCThreads=2
start_record -F 99 -e cpu,wait=1us,safepoint -p "$JAVA_PID" -o lost.trace
wait_joined "$JAVA_PID"
wait_events "$JAVA_PID"
ask jvm gc 5 # the probes are set by then
kill -STOP "$RECORD_PID"
ask jvm gc 3000
kill -CONT "$RECORD_PID"
stop_record
end_worker jvm "$JAVA_PID"
events lost.trace \
	"sleeps" "sum(n for hop, kind, n in lost_by($JAVA_PID) if (hop, kind) == ('bpf', 'offcpu')) > 0" \
	"probes" "sum(n for hop, kind, n in lost_by($JAVA_PID) if (hop, kind) == ('bpf', 'safepoint')) > 0" \
	"nothing of nobody in particular" 'lost_by(0) == []'
