#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Virtual threads: their stacks are whole and exact, through the frames that are still frozen in the heap, to the
# carrier's root, and samples identify the virtual thread. With two collectors, which move what the walk reads;
# t_vthread_collectors.sh has the others.
# takes: 15 s
source "$(dirname "$0")/../lib.sh"
# shellcheck source=vthreads.sh
source "$TEST_DIR/vthreads.sh"

has_thread()
{
	grep -qs "$2" "/proc/$1"/task/*/comm
}

record_vthreads 99 99.9 99.9 -XX:+UseSerialGC -Xmx64m
record_vthreads 99 99.9 99.9 -XX:+UseG1GC -Xmx128m

# Views by thread show groups of virtual threads.
braid export --format collapsed --threads v.trace >threads
grep -q '^\[v3\.\* virtual\];.*VThreads\.m3' threads || fail "no group of virtual threads by name"
grep -q '^\[virtual threads virtual\];.*VThreads\.m0' threads || fail "no group of virtual threads without a name"
grep '^\[v3\.\* virtual\]' threads | grep 'VThreads\.m[0-24-7]' && fail "another thread's frames in a group"
braid info v.trace >quality.txt
grep -Eq '^ *virtual threads +[0-9]+ samples of [0-9]+' quality.txt || fail "info does not count them"
braid info --json v.trace | python3 -c '
import json, sys
v = json.load(sys.stdin)["virtual_threads"]
assert v["samples"] > 0 and v["unidentified"] is not None and v["unidentified"] < v["samples"] / 10, v
' || fail "info does not count those without an identity"

# An agent that is loaded while they run: from the time when it has reported what is older than itself, and the collector
# has read that.
"$JDK/bin/java" -XX:+UseG1GC -XX:+EnableDynamicAgentLoading -cp . VThreads 60 park yield >out 2>err &
JAVA_PID=$!
wait_for "virtual threads" has_thread "$JAVA_PID" ForkJoinPool
start_record -F 997 -p "$JAVA_PID" -o v.trace
wait_joined "$JAVA_PID"
wait_samples 3000
stop_record
kill "$JAVA_PID"
wait "$JAVA_PID" || true # it prints the ids of its threads
grep -q '^7: ' out || fail "the program has not printed the ids of its threads: $(cat err)"
since=$(braid script v.trace | sed -n 's/.* \([0-9.]*\): braid:phase: phase="replayed"$/\1/p')
[[ -n $since ]] || fail "the trace has no record that the agent has reported all"
braid script --from "$since" v.trace >v.txt
python3 "$TEST_DIR/vthreads.py" v.txt out 99 99.9 99.9 || fail "attached"
