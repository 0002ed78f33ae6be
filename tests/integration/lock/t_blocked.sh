#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Off-CPU times of threads: their durations, their stacks, and their wakers.
source "$(dirname "$0")/../lib.sh"

# off NAME FRAME INNER: the Python expression for a thread's off-CPU times in calls of a method of the program. Times
# that are shorter than the program's intended ones have other causes: a safepoint, a page fault. So do waits for a CPU.
off()
{
	echo "[e for e in at('offcpu', 'Blocked.$2') if e.thread.name == '$1' and e.duration_ns - e.value > 25e6 and any('$3' in f for f in e.stack)
		and not any('CyclicBarrier' in f for f in e.stack)]"
}

# long NAME FRAME INNER: they are as long as the program's measures.
long()
{
	echo "as_long($(off "$@"), next(w[1:] for w in truth['blocked'] if w[0] == '$1'))"
}

all_told()
{
	events "$1" \
		"a sleeping thread" "$(long napper naps Thread.sleep)" \
		"a parked one" "$(long parker parks LockSupport.parkNanos)" \
		"one that takes from a queue" "$(long taker takes BlockingQueue.take)" \
		"one that gets a lock" "$(long locker locks ReentrantLock.lock)" \
		"time wakes those that sleep" "all(e.other is None and e.other_stack == [] for e in $(off napper naps Thread.sleep) + $(off parker parks LockSupport.parkNanos))" \
		"who gives wakes who takes" "all(e.other.name == 'giver' and 'Blocked.giveAway' in e.other_stack for e in $(off taker takes BlockingQueue.take))" \
		"who unlocks wakes who locks" "all(e.other.name == 'holder' and 'Blocked.holdLock' in e.other_stack for e in $(off locker locks ReentrantLock.lock))" \
		"in a futex, all of them" "{e.flags & 0xffff for e in $(off napper naps Thread.sleep) + $(off taker takes BlockingQueue.take) + $(off locker locks ReentrantLock.lock)} == {202}" \
		"none is shorter than asked for" 'all(e.duration_ns >= 1000000 or e.flags & 0x20000 for e in of("offcpu"))' \
		"shorter ones are counted, once for each thread and reason" 'len({(e.thread.thread, e.flags) for e in of("counted", number=5)}) == len(of("counted", number=5)) > 0' \
		"no two at a time" 'at_once(of("offcpu")) == []' \
	"of the VM's own threads, too" 'any("VM Thread" in e.thread.name for e in of("offcpu") + of("thread_cpu"))' \
		"CPU time of those that no agent tells it of" 'any("VM Thread" in e.thread.name for e in of("thread_cpu")) and
			not any(e.thread.name in ("napper", "taker") for e in of("thread_cpu")) and
			all(e.weight <= e["value"] for e in of("thread_cpu"))' \
		"and of a thread that was another one before, what it used since" 'all(e["value"] < m["value"]
			for e in of("thread_cpu") if e.thread.name == "DestroyJavaVM" for m in of("thread_end", name="main"))' \
		"nothing lost" 'lost == []'
}

# From the start to the end of the JVM.
echo | "${UNDISTURBED[@]}" "$BUILD/braid" record -e wait,thread -o start.trace -- "$JAVA" -cp "$CLASSES" Blocked >start.trace.truth 2>err
all_told start.trace

# Attached; events that last beyond the end of the recording.
attach_midway -F 99 -e cpu,wait,thread -- "${UNDISTURBED[@]}" "$JAVA" -Xint -cp "$CLASSES" Blocked
all_told attach.trace
events attach.trace \
	"main reads on when the recording ends" '[(e.flags & 0xfffff, e.stack[0] != "[incomplete]", "Blocked.main" in e.stack) for e in of("offcpu")
		if e.thread.name == "main"][-1] == (0x20000, True, True)' \
	"and has CPU time" 'any(e.thread.name == "main" and e["value"] > 0 for e in of("thread_cpu"))'
