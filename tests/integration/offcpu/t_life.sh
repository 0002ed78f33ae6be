#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The times of each thread on and off the CPU are its whole life: of a JVM that is started, or recorded later, of its
# short threads, and of a thousand short processes.
# class: long
source "$(dirname "$0")/../lib.sh"
# shellcheck source=whole.sh
source "$TEST_DIR/whole.sh"

braid record -q -e offcpu=10us,thread -o start.trace -- "$JAVA" -cp "$CLASSES" Lives <<<$'\n\n' >out
whole start.trace "short threads" "len({t.thread.tid for t in of('thread_time')}) >= 300"

attach_midway -F 99 -e cpu,offcpu,thread -- "$JAVA" -cp "$CLASSES" Lives
whole attach.trace \
	"one slept all the time" "[e.flags >> 16 & 6 for e in of('offcpu') if e.thread.name == 'sleeper'] == [6] and
		all(t.weight == t['value'] == 0 for t in of('thread_time') if t.thread.name == 'sleeper')" \
	"all began and ended with the recording" "len({(t.time_ns, t.duration_ns) for t in of('thread_time') if t.thread.name in
		('sleeper', 'main', 'VM Thread', 'Reference Handler', 'Finalizer')}) == 1"

# A thousand short processes, each of one of ten programs. The truth has of each its pid, its program, and since when and
# until when it may have lived.
for ((i = 0; i < 10; i++)); do
	cp /bin/true "short$i"
done
cat >many.py <<'END'
import os, time
for i in range(1000):
    program, start = "short%d" % (i % 10), time.monotonic_ns()
    pid = os.posix_spawn("./" + program, [program], {})
    os.waitpid(pid, 0)
    print("short", pid, program, start, time.monotonic_ns())
END
braid record -q -e offcpu=10us -o short.trace -- python3 many.py >short.trace.truth
whole short.trace \
	"all programs are there, with their names" "sorted((t.process.pid, t.process.comm) for t in of('thread_time') if t.process.comm.startswith('short')) ==
		sorted((int(pid), program) for pid, program, _, _ in truth['short'])" \
	"all their threads have their names" "[(t.thread.name, t.process.comm) for t in of('thread_time') if t.thread.name != t.process.comm] == []" \
	"before, each was a child of the same program" "Counter(t.process.comm for t in of('thread_time') if not t.process.comm.startswith('short')) -
		Counter({'python3': 1001, '[before exec]': 1}) == Counter()" \
	"each has its program's file" "[p for p in processes.values() if p.comm.startswith('short') and p.exe and not p.exe.endswith('/' + p.comm) or
		p.comm == 'python3' and p.exe and 'python3' not in p.exe] == []" \
	"and lived when it says" "[(t.process.pid, start, t.time_ns, t.duration_ns, end) for t in of('thread_time') if t.process.comm.startswith('short')
		for pid, _, start, end in truth['short'] if int(pid) == t.process.pid and
		not int(start) <= t.time_ns < t.time_ns + t.duration_ns <= int(end)] == []" \
	"all in ten seconds by the recording's clock, if the machine is as fast" "max(t.time_ns + t.duration_ns for t in of('thread_time') if t.process.comm.startswith('short')) -
		min(t.time_ns for t in of('thread_time') if t.process.comm.startswith('short')) <= max(10 ** 10, int(truth['short'][-1][3]) - int(truth['short'][0][2]))"
