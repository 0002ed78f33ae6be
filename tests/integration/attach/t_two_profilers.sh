#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two profilers of one JVM: each keeps its capabilities, receives all events, and finds its settings unchanged.
# class: long
# takes: 15 s
source "$(dirname "$0")/../lib.sh"

AGENT=-agentpath:$CLASSES/libprofiler.so
SAMPLED=$(($(java_version) >= 11)) # JVM TI samples allocations

# The other profiler's counts and capabilities.
look()
{
	read -r SAMPLES COLLECTIONS LOADS THREADS ALLOCATIONS SUSPEND _ < <(od -An -v -td8 -w56 "$1")
}

# as_ever WORKER FILE: the worker makes 40 MB of garbage, which are 600 samples at 64 KiB and 76 at 512 KiB, collects it
# ten times, and starts threads.
as_ever()
{
	local samples collections threads

	look "$2"
	samples=$SAMPLES collections=$COLLECTIONS threads=$THREADS
	ask "$1" gc 10
	ask "$1" threads 5
	look "$2"
	[[ $((COLLECTIONS - collections)) -ge 10 ]] || fail "the other profiler has seen $((COLLECTIONS - collections)) of 10 collections"
	[[ $((THREADS - threads)) -ge 5 ]] || fail "the other profiler has seen $((THREADS - threads)) of 5 threads"
	[[ $ALLOCATIONS -eq 0 || $((SAMPLES - samples)) -gt 300 ]] || fail "the other profiler has $((SAMPLES - samples)) of about 600 samples"
	[[ $SUSPEND -eq 1 ]] || fail "the other profiler cannot suspend threads"
}

# ---- an agent that was there first, and stays ----
start_worker first -XX:+UseSerialGC "$AGENT=$PWD/first"
as_ever first first
[[ $ALLOCATIONS -eq $SAMPLED ]] || fail "the other profiler has no allocations of its own"
start_record -e all -F 99 -p "$JAVA_PID" -o second.trace
wait_joined "$JAVA_PID"
wait_events "$JAVA_PID"
as_ever first first
stop_record
as_ever first first
end_worker first "$JAVA_PID"
events second.trace \
	"collections" 'len(of("gc_pause")) >= 10' \
	"threads" 'len(named("thread_start", "young-.*")) == 5' \
	"allocations are said to be another's" 'of("alloc") == [] and any("allocations" in n for n in notices)' \
	"nothing lost" 'lost == []'

# The worker that the recorder starts has the agent; on a very busy machine the agent may be late.
wait_recorded()
{
	wait_child "$JAVA_PID" java
	RECORD_PID=$JAVA_PID wait_joined "$CHILD"
	wait_events "$CHILD"
}

# ---- one that comes second, from the start of both ----
PREFIX="$BUILD/braid record -e all,alloc=1m -F 499 -o both.trace --" start_worker second -XX:+UseSerialGC "$AGENT=$PWD/second"
wait_recorded
as_ever second second
burn second 100 "$JAVA_PID"
end_worker second "$JAVA_PID"
look second
[[ $LOADS -gt 0 ]] || fail "the other profiler has not received compiled code"
echo "collections $COLLECTIONS" >both.trace.truth
events both.trace \
	"as many collections" 'len(of("gc_pause")) == one("collections")' \
	"threads" 'len(named("thread_start", "young-.*")) == 5' \
	"nothing lost" 'lost == []'
# One of the two gets the allocations: braid, unless its agent was late on a busy machine.
if [[ $ALLOCATIONS -eq 1 ]]; then
	events both.trace "allocations are said to be another's" 'of("alloc") == [] and any("allocations" in n for n in notices)'
elif [[ $SAMPLED -eq 1 ]]; then
	events both.trace "allocations" 'len(of("alloc")) > 10'
fi

# ---- the JVM's own ----
# count EVENT: the number of these events in Flight Recorder
count()
{
	awk -v event="jdk.$1" '$1 == event { print $2 }' events
}

if [[ $(java_version) -ge 11 && -x $JAVA_HOME/bin/jfr ]]; then
	PREFIX="$BUILD/braid record -e all -F 499 -o jfr.trace --" start_worker jfr -XX:+UseSerialGC \
		"-XX:StartFlightRecording=filename=$PWD/own.jfr,settings=profile"
	wait_recorded
	ask jfr gc 10
	ask jfr threads 5
	burn jfr 300 "$JAVA_PID"
	end_worker jfr "$JAVA_PID"
	"$JAVA_HOME/bin/jfr" summary own.jfr >events
	[[ $(count ExecutionSample) -gt 0 && $(count ThreadStart) -gt 5 ]] || fail "Flight Recorder lacks events: $(cat events)"
	echo "collections $(count GarbageCollection)" >jfr.trace.truth
	events jfr.trace \
		"as many collections" 'len(of("gc_pause")) == one("collections")' \
		"allocations" 'len(of("alloc")) > 10' \
		"threads" 'len(named("thread_start", "young-.*")) == 5' \
		"nothing lost" 'lost == []'
	check jfr.trace "stacks" 'mostly_whole(with_frame("Worker.spin")) and all_named(with_frame("Worker.spin"))'
fi

# ---- async-profiler, where there is one: it was there first, and stays for longer ----
if [[ -n $(command -v asprof) && $(java_version) -ge 11 && -x $JAVA_HOME/bin/jfr ]]; then
	start_worker async -XX:+UseSerialGC
	asprof start -e itimer --alloc 64k -f "$PWD/async.jfr" "$JAVA_PID" >async.log 2>&1 || fail "async-profiler: $(cat async.log)"
	start_record -e all -F 499 -p "$JAVA_PID" -o async.trace
	wait_joined "$JAVA_PID"
	wait_events "$JAVA_PID"
	burn async 100
	ask async gc 10
	stop_record
	ask async gc 10
	asprof stop -f "$PWD/async.jfr" "$JAVA_PID" >async.log 2>&1 || fail "async-profiler: $(cat async.log)"
	end_worker async "$JAVA_PID"
	"$JAVA_HOME/bin/jfr" summary async.jfr >events
	# 80 MB at 64 KiB; at the default of 512 KiB there would be a seventh of these samples.
	[[ $(count ExecutionSample) -gt 0 && $(count ObjectAllocationInNewTLAB) -gt 600 ]] || fail "async-profiler lacks samples: $(cat events)"
	check async.trace "stacks" 'mostly_whole(with_frame("Worker.spin")) and all_named(with_frame("Worker.spin")) and i["lost"] == {}'
	events async.trace "collections" 'len(of("gc_pause")) >= 10'
fi
