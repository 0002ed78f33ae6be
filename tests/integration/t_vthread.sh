#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Virtual threads: their stacks are whole and exact, through the frames that are still frozen in the heap, to the carrier's
# root; samples say whose they are. With each collector that the JDK has, since they move what the walk reads.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$(readlink -f "$0")")/lib.sh"

need_jdk 21
"$JDK/bin/javac" -d . "$LIB_DIR/java21/VThreads.java"

has_thread()
{
	grep -qs "$2" "/proc/$1"/task/*/comm
}

has_option()
{
	"$JDK/bin/java" "$@" -version >/dev/null 2>&1
}

record_vthreads()
{
	local least=$1

	shift
	braid record -F 997 -o v.trace -- "$JDK/bin/java" "$@" -cp . VThreads 2 park yield pin >out 2>record.err ||
		fail "$* ended with: $(cat record.err)"
	braid script v.trace >v.txt
	python3 "$LIB_DIR/vthreads.py" v.txt "$least" 90 || fail "with $*"
}

# On a busy machine the first deep stacks come before the agent knows the fields; a collector that moves objects while threads
# run may be in the middle of that.
record_vthreads 97 -XX:+UseSerialGC -Xmx64m
record_vthreads 97 -XX:+UseG1GC -Xmx128m
has_option -XX:+UseShenandoahGC && record_vthreads 95 -XX:+UseShenandoahGC -Xmx128m
has_option -XX:+UseZGC && record_vthreads 95 -XX:+UseZGC -Xmx256m

# Views by thread show groups of them.
braid export --format collapsed --threads v.trace >threads
grep -q '^\[v3\.\* virtual\];.*VThreads\.m3' threads || fail "no group of virtual threads by name"
grep -q '^\[virtual threads virtual\];.*VThreads\.m0' threads || fail "no group of virtual threads without a name"
grep '^\[v3\.\* virtual\]' threads | grep 'VThreads\.m[0-24-7]' && fail "another thread's frames in a group"
braid info v.trace | grep -Eq '^ *virtual threads +[0-9]+ samples of [0-9]+' || fail "info does not count them"

# An agent that comes when they run already.
"$JDK/bin/java" -XX:+EnableDynamicAgentLoading -cp . VThreads 8 park yield >out 2>&1 &
JAVA_PID=$!
wait_for "virtual threads" has_thread "$JAVA_PID" ForkJoinPool
braid record -F 997 -d 2 -p "$JAVA_PID" -o v.trace 2>record.err
kill "$JAVA_PID"
braid script v.trace >v.txt
python3 "$LIB_DIR/vthreads.py" v.txt 95 90 || fail "attached"
