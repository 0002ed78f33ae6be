#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The times of each thread on and off the CPU are its whole life: of a JVM that is started, or recorded later, of its
# short threads, and of a thousand short processes.
source "$(dirname "$0")/../lib.sh"

# whole TRACE...: the parts of every thread are its life. An OS thread can be several Java threads in turn.
whole()
{
	events "$1" \
		"every thread has one life in each program" "len({(t.process.process, t.thread.tid) for t in of('thread_time')}) == len(of('thread_time')) > 0" \
		"every thread that was seen" "{(t.process.process, t.thread.tid) for t in of('thread_time')} >=
			{(e.process.process, e.thread.tid) for e in of('offcpu') + of('counted', number=5)}" \
		"its parts are the whole" "[(t.thread.name, t.thread.tid, t.duration_ns, sum(parts)) for t in of('thread_time')
			for parts in [[t['value']] + [e.duration_ns for e in MINE['offcpu'].get((t.process.process, t.thread.tid), [])] +
				[e.weight for e in MINE['counted'].get((t.process.process, t.thread.tid), [])]]
			if abs(sum(parts) - t.duration_ns) > t.duration_ns // 1000 + 1000] == []" \
		"when it could run, too" "[(t.thread.name, t.thread.tid, t.weight, sum(parts)) for t in of('thread_time')
			for parts in [[e['value'] for e in MINE['offcpu'].get((t.process.process, t.thread.tid), [])] +
				[e.weight for e in MINE['counted'].get((t.process.process, t.thread.tid), []) if e.flags >> 20 & 15 == 1]]
			if abs(sum(parts) - t.weight) > t.weight // 1000 + 1000] == []" \
		"nothing lost" "lost == []"
}

braid record -q -e offcpu=10us,thread -o start.trace -- "$JAVA" -cp "$CLASSES" Lives <<<$'\n\n' >out
whole start.trace
events start.trace "short threads" "len({t.thread.tid for t in of('thread_time')}) >= 300"

start_program attach.trace.truth "$JAVA" -cp "$CLASSES" Lives
start_record -F 99 -e cpu,offcpu,thread -p "$JAVA_PID" -o attach.trace
wait_attached "$JAVA_PID"
wait_sampling
go_on
wait_says attach.trace.truth "done"
stop_record
end_program
whole attach.trace
events attach.trace \
	"one slept all the time" "[e.flags >> 16 & 6 for e in of('offcpu') if e.thread.name == 'sleeper'] == [6] and
		all(t.weight == t['value'] == 0 for t in of('thread_time') if t.thread.name == 'sleeper')" \
	"all began and ended with the recording" "len({(t.time_ns, t.duration_ns) for t in of('thread_time') if t.thread.name in
		('sleeper', 'main', 'VM Thread', 'Reference Handler', 'Finalizer')}) == 1"

cat >short.sh <<'END'
for ((i = 0; i < 1000; i++)); do
	/bin/true
done
END
braid record -q -e offcpu=10us -o short.trace -- bash short.sh
whole short.trace
events short.trace "all processes" "len([t for t in of('thread_time') if t.process.comm == 'true']) == 1000"
