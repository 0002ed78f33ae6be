# SPDX-License-Identifier: Apache-2.0
# For scripts that source it after lib.sh.

# whole TRACE [WHAT EXPRESSION]...: the parts of every thread are its life, and what else events() is to check. An OS
# thread can be several Java threads in turn.
whole()
{
	local trace=$1

	shift
	events "$trace" \
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
		"nothing lost" "lost == []" "$@"
}

# recorded NAME EVENTS HANDOVERS: switcher.c's program, which runs before the recording begins, so all its stacks are known.
recorded()
{
	start_program "$1.trace.truth" ./switcher "$3" wait
	start_record -q -F 99 -e "cpu,$2" -p "$JAVA_PID" -o "$1.trace"
	wait_sampling
	go_on
	wait_says "$1.trace.truth" "done"
	stop_record
	end_program
}
