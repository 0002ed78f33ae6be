#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every time off the CPU has its reason, its length, what was waited for, who ended it, and its stack.
# takes: 8 s
source "$(dirname "$0")/../lib.sh"

"${CC:-gcc}" -std=gnu11 -O1 -g -fno-optimize-sibling-calls "$TEST_DIR/reasons.c" -o reasons -pthread
braid record -q -e offcpu=0ns -o c.trace -- ./reasons >c.trace.truth

# off FUNCTION CLASS: its times off the CPU for this reason.
off()
{
	echo "[e for e in at('offcpu', '$1') if e.flags >> 20 & 15 == $2]"
}

# as_measured FUNCTION: the sum of the times off the CPU while the thread was in it, whatever the reason. The kernel's
# clock of the thread begins and ends at other moments of a switch.
as_measured()
{
	echo "most(abs(own - sum(seen)) <= max(own // 100, 100000) + len(seen) * 50000 for name, tid, since, to, own in
		((w[0], *map(int, w[1:])) for w in truth['off']) if name == '$1'
		for seen in [[min(e.time_ns + e.duration_ns, to) - max(e.time_ns, since) for e in of('offcpu')
			if e.thread.tid == tid and e.time_ns < to and e.time_ns + e.duration_ns > since]])"
}

# Each row: function, class, what is waited for (an expression), the end of the time, the helper's function. The
# function's times are as long as the program measured, and one of them is as long as what it waits for.
while read -r function class name end; do
	[[ $function != touches ]] || ! grep -q no_faults c.trace.truth || continue
	if [[ $end == timer ]]; then
		ended="e.flags >> 24 & 1 and e.text == 'timer' and e.other is None"
	elif [[ $end == itself ]]; then
		ended="True"
	else
		ended="not e.flags >> 24 & 1 and e.other and e.other.name == '${end%:*}' and '${end#*:}' in e.other_stack"
	fi
	events c.trace \
		"$function: as long as the program measured" "$(as_measured "$function")" \
		"$function: why, for what, by whom" "any(e.duration_ns - e['value'] > 30e6 and $ended and $name for e in $(off "$function" "$class"))"
done <<'END'
sleeps 3 e.name=='' timer
waits 2 e.name==''and(e.number>0) helper:wakes
polls 4 e.name=='pipe'and(e.number>0) timer
epolls_in_vain 4 e.name=='' timer
epolls_pipe 4 e.name=='pipe'and(e.number>0) helper:writes
epolls_socket 4 [e.name]in(truth['port']) helper:connects
reads_pipe 6 e.name=='pipe'and(e.number>0) helper:writes
accepts 5 [e.name]in(truth['port']) helper:connects
receives 5 [e.name]in(truth['peer']) helper:connects
receives_unix 5 [e.name]in(truth['unix']) timer
locks_file 7 e.name.endswith('/reasons.data')and(e.number>0) helper:unlocks
touches 9 (e.flags&0xffff)==0xffff helper:fills
stops 10 True reasons:children
waits_for_child 11 True itself
END
grep -q no_32bit c.trace.truth || events c.trace \
	"a call of 32-bit code: as long as the program measured" "$(as_measured reads_32bit)" \
	"has no known number" "most([e.flags & 0xf0ffff for e in of('offcpu') if e.thread.tid == int(tid) and e.duration_ns - e['value'] > 30e6
		and int(since) <= e.time_ns < int(to)] == [0xffff]
		for name, tid, since, to, own in truth['off'] if name == 'reads_32bit')"
grep -q no_worker c.trace.truth || events c.trace \
	"a worker has a life" "len([t for t in of('thread_time') if t.thread.name.startswith('iou-wrk')]) >= 1" \
	"which is known" "[e for e in of('offcpu') if e.thread.name.startswith('iou-wrk')] != []" \
	"and not its maker's stack" "all('worker' not in e.stack for e in of('offcpu') if e.thread.name.startswith('iou-wrk'))"
# The kernel's part of its stack says whether it waited for work, or in its work; whenever stacks are taken. A worker that gets a
# CPU late has nothing to wait for, so there are several tries.
for limit in 0ns 1us; do
	for ((try = 0; try < 10; try++)); do
		braid record -q -e offcpu=$limit -o worker.trace -- ./reasons worker >worker.trace.truth
		! grep -q no_worker worker.trace.truth || break 2
		braid query --format csv worker.trace "SELECT DISTINCT is_idle FROM offcpu JOIN threads USING (thread_id)
			WHERE name LIKE 'iou-wrk-%' AND class <> 'runnable' AND stack_id ORDER BY 1" | tr -d '\r' >idle.csv
		[[ $(tail -n +2 idle.csv | xargs) != "0 1" ]] || break
	done
	[[ $try -lt 10 ]] || fail "$limit: a worker is not now idle, now not: $(cat idle.csv)"
	braid script --event offcpu worker.trace | finds '^	.* io_worker_handle_work+' || fail "$limit: the work is not on the stack"
done
events c.trace \
	"what fsync waited for" "most(e.name.endswith('/reasons.data') and e.flags >> 20 & 15 in (7, 8, 1) for e in at('offcpu', 'writes_out'))" \
	"what ended fsync's waits, unless it only waited for a CPU: an interrupt, a timer, or a thread of the kernel" \
		"all(len(known) >= 0.9 * len(waits) and (waits or all(e.duration_ns == e['value'] for e in of_fsync))
			for of_fsync in [at('offcpu', 'writes_out')] for waits in [[e for e in of_fsync
			if e.flags >> 20 & 15 in (7, 8) and e.duration_ns > e['value'] and not e.flags & 0x20000]]
			for known in [[e for e in waits if e.other or re.fullmatch(r'irq .+|softirq .+|timer|.*\\[[0-9]+\\]', e.text)]])" \
	"fsync is as long as the program measured" "$(as_measured writes_out)" \
	"the time in which it could run is its end" "all(0 <= e['value'] <= e.duration_ns for e in of('offcpu')) and
		all(e['value'] == e.duration_ns for e in of('offcpu') if e.flags >> 20 & 15 == 1)" \
	"CPUs of this machine" "all(e.weight & 0xffffffff < $(nproc --all) and e.weight >> 32 < $(nproc --all) for e in of('offcpu'))" \
	"between two of its times off the CPU, a thread runs on one CPU" \
		"all(sum(same) >= 0.99 * len(same) and len(same) > 100 for same in [[a.weight >> 32 == b.weight & 0xffffffff
			for tid in {e.thread.tid for e in of('offcpu')}
			for row in [sorted((e for e in of('offcpu') if e.thread.tid == tid), key=lambda e: e.time_ns)]
			for a, b in zip(row, row[1:]) if not a.flags & 0x20000]])" \
	"no two at a time" "at_once(of('offcpu')) == []" \
	"nothing lost" "lost == []"

# Java: the same program from outside, with the stacks of Java.
"$BUILD/braid" record -q -e offcpu=0ns,lock -o java.trace -- "$JAVA" -Xint -cp "$CLASSES" Reasons >java.trace.truth
java()
{
	events java.trace \
		"$1: as long as the program measured" "most(abs(own - sum(seen)) <= max(own // 100, 100000) + len(seen) * 50000 for name, since, to, own in
			((w[0], *map(int, w[1:])) for w in truth['off']) if name == '$1'
			for seen in [[min(e.time_ns + e.duration_ns, to) - max(e.time_ns, since) for e in of('offcpu')
				if e.thread.name == 'main' and e.time_ns < to and e.time_ns + e.duration_ns > since]])" \
		"$1: $2" "most($3 for e in at('offcpu', 'Reasons.$1') if e.duration_ns - e['value'] > 25e6)"
}
java sleeps "by a timer" "e.flags >> 20 & 31 == 0x12 and e.text == 'timer'"
java parks "by a timer" "e.flags >> 20 & 31 == 0x12 and e.text == 'timer'"
# Before JDK 24, HotSpot looks at a monitor again after 1, 8, 64 ms, ...: on a busy machine its timer ends a wait, too.
by_owner="e.other and e.other.name == 'helper' and 'Reasons.holds' in e.other_stack"
java enters "the owner ends it" "e.flags >> 20 & 15 == 2 and (e.flags >> 24 & 1 or $by_owner)"
java locks "the owner ends it" "e.flags >> 20 & 15 == 2 and e.other and e.other.name == 'helper' and 'Reasons.holdsLock' in e.other_stack"
java reads "from a socket" "e.flags >> 20 & 15 in (4, 5) and e.name == '127.0.0.1:' + truth['peer'][0][0] and e.other and e.other.name == 'helper' and 'Reasons.sends' in e.other_stack"
events java.trace \
	"its owner ends each wait for the monitor at last" "len([e for e in at('offcpu', 'Reasons.enters') if $by_owner]) >= 3" \
	"the monitor's class" "{e.name for e in at('lock', 'Reasons.enters')} == {'java.lang.Object'}" \
	"the lock's class, as the object of both" "{e.name for kind in ('lock', 'offcpu') for e in at(kind, 'Reasons.locks')
		if e.duration_ns - e['value'] > 25e6} == {'java.util.concurrent.locks.ReentrantLock\$NonfairSync'}" \
	"a lock is a LOCK, too" "len(at('lock', 'Reasons.locks')) >= 3 and len(at('lock', 'Reasons.enters')) >= 3" \
	"nothing lost" "lost == []"
