#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recorder that is stopped: sleeps of a JVM's threads, and hits of its probes, then find no room and are counted for
# that JVM. Those that would be no events are not.
# class: long
# takes: 30 s
source "$(dirname "$0")/../lib.sh"

start_worker jvm -XX:+UseParallelGC -XX:ParallelGCThreads=2
start_record -F 99 -e cpu,wait=1us,safepoint,syscall=1us -p "$JAVA_PID" -o lost.trace
wait_joined "$JAVA_PID"
wait_events "$JAVA_PID"
ask jvm gc 5 # the probes are set by then
kill -STOP "$RECORD_PID"
ask jvm gc 1500
kill -CONT "$RECORD_PID"
stop_record

# A sleep that would be no event is no loss: only locks are recorded, and nobody waits for one.
start_record -F 99 -e cpu,lock,syscall=1us -p "$JAVA_PID" -o locks.trace
wait_joined "$JAVA_PID"
wait_events "$JAVA_PID"
ask jvm gc 5
kill -STOP "$RECORD_PID"
ask jvm gc 1500
kill -CONT "$RECORD_PID"
stop_record
end_worker jvm "$JAVA_PID"
events locks.trace \
	"system calls" "sum(n for hop, kind, n in lost_by($JAVA_PID) if (hop, kind) == ('bpf', 'syscall')) > 0" \
	"no sleeps" "sum(n for hop, kind, n in lost_by($JAVA_PID) if (hop, kind) == ('bpf', 'offcpu')) == 0"
events lost.trace \
	"sleeps" "sum(n for hop, kind, n in lost_by($JAVA_PID) if (hop, kind) == ('bpf', 'offcpu')) > 0" \
	"probes" "sum(n for hop, kind, n in lost_by($JAVA_PID) if (hop, kind) == ('bpf', 'safepoint')) > 0" \
	"nothing of nobody in particular" 'lost_by(0) == []'

# A JVM without a slot of the kernel side, as its layout cannot be read.
start_worker odd -Xmx16m -XX:+UseParallelGC -XX:ParallelGCThreads=2
python3 "$LIB_DIR/programs/alter_libjvm.py" "$JAVA_PID" stride || exit 0 # it has no symbols
start_record -F 99 -e cpu,safepoint,syscall=1us --no-attach -p "$JAVA_PID" -o odd.trace
wait_sampling
ask odd gc 5 # the probes are set by then
kill -STOP "$RECORD_PID"
ask odd gc 1500
kill -CONT "$RECORD_PID"
stop_record
end_worker odd "$JAVA_PID"
events odd.trace \
	"probes" "sum(n for hop, kind, n in lost_by($JAVA_PID) if (hop, kind) == ('bpf', 'safepoint')) > 0" \
	"nothing of nobody in particular" 'lost_by(0) == []'
