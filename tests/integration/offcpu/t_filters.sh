#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Filters of offcpu: what they select has an event, all else is counted, and nothing is missing. What they cannot mean is
# refused.
# takes: 15 s
source "$(dirname "$0")/../lib.sh"
# shellcheck source=whole.sh
source "$TEST_DIR/whole.sh"

"${CC:-gcc}" -std=gnu11 -O1 -g -fno-optimize-sibling-calls "$TEST_DIR/switcher.c" -o switcher -pthread

# filtered NAME FILTER SELECTED [WHAT EXPRESSION]...: a recording with this filter. SELECTED says of an event `e`, blocked
# in the class `c`, what is true of all that are selected. Each of the program's own switches is an event or counted; a
# switch at the end of its thread comes after the thread's own count.
filtered()
{
	local name=$1 filter=$2 selected=$3

	shift 3
	# A thread that is preempted while it goes to sleep may not sleep at all.
	"${UNDISTURBED[@]}" "$BUILD/braid" record -q -e "offcpu=0ns/$filter/" -o "$name.trace" -- ./switcher 200 >"$name.trace.truth"
	whole "$name.trace" \
		"$name: what is selected" "all($selected for e in of('offcpu') for c in [e.flags >> 20 & 15])" \
		"$name: there is something" "of('offcpu') != []" \
		"$name: each switch of the program's" "all(int(w[2]) <= seen <= int(w[2]) + 3 for w in truth['switches']
			for seen in [len([e for e in of('offcpu') if e.thread.tid == int(w[1]) and e.flags >> 20 & 15 != 1]) +
				total([e for e in of('counted', number=5) if e.thread.tid == int(w[1]) and e.flags >> 20 & 15 != 1])])" "$@"
}

filtered plain 'duration>=0ns' True "all of them" "of('counted', number=5) == []"
filtered longest 'duration<20ms' "e.duration_ns < 20e6" \
	"the long naps are counted" "total([e for e in of('counted', number=5) if e.thread.name == 'napper-long' and
	e.flags >> 20 & 15 == 3]) == 12 and len([e for e in of('offcpu') if e.thread.name == 'napper-short' and
	e.flags >> 20 & 15 == 3]) + total([e for e in of('counted', number=5) if e.thread.name == 'napper-short' and
	e.flags >> 20 & 15 == 3]) == 160"
# The first ones can come before the recorder knows the program, and none of them when another one has a stack.
filtered name 'comm~"napper-*" && state=="sleeping"' "e.thread.name.startswith('napper-') and c == 3" \
	"all naps" "Counter(e.thread.name for e in of('offcpu')) == {'napper-short': 160, 'napper-long': 12}" \
	"where they were" "[w for w in [Counter(f for e in of('offcpu') for f in e.stack if f in ('left', 'right', '[incomplete]'))]
		if w['left'] <= 129 and w['right'] <= 43 and w.total() == 172] and
		max([e.time_ns for e in of('offcpu') if '[incomplete]' in e.stack], default=0) <=
		min(e.time_ns + e.duration_ns for e in of('offcpu') if 'left' in e.stack or 'right' in e.stack)"
filtered states 'state!="pipe" && state!="runnable"' "c not in (1, 6)"
filtered either 'comm=="napper-long"&&duration>25ms || comm=="taker"&&state~"p?pe"' \
	"(e.thread.name == 'napper-long' and e.duration_ns > 25e6) or (e.thread.name == 'taker' and c == 6)" \
	"both" "{e.thread.name for e in of('offcpu')} == {'napper-long', 'taker'}"

# A filter by process and by cgroup.
cgroup=$(findmnt -nt cgroup2 -o TARGET | head -1)
if [[ $cgroup == /sys/fs/cgroup* ]] && mkdir "$cgroup/braid-$$" 2>/dev/null; then
	mkdir "$cgroup/braid-$$/below"
	cat >grouped.sh <<-END
		./switcher 50 >outside
		echo \$\$ >$cgroup/braid-$$/below/cgroup.procs
		./switcher 50 >inside
		echo \$\$ >$cgroup/cgroup.procs
	END
	for term in "cgroup==\"/braid-$$\"" "cgroup!=\"$cgroup/braid-$$/below\""; do
		"$BUILD/braid" record -q -e "offcpu=0ns/$term/" -o cgroup.trace -- bash grouped.sh
		[[ $term == *!=* ]] && in=outside || in=inside
		cp "$in" cgroup.trace.truth
		events cgroup.trace "$term" "{e.thread.name for e in of('offcpu')} >= {'napper-short', 'napper-long', 'taker'} and
			{e.thread.tid for e in of('offcpu') if e.process.comm == 'switcher' != e.thread.name} <= {int(w[1]) for w in truth['switches']}"
	done
	rmdir "$cgroup/braid-$$/below" "$cgroup/braid-$$"
fi

# refused LIST MESSAGE [STATUS]
refused()
{
	local status=0

	"$BUILD/braid" record -e "$1" -o refused.trace -- true 2>err || status=$?
	((status == ${3:-2})) || fail "-e $1: exit status $status: $(cat err)"
	grep -qF -- "$2" err || fail "-e $1: $(cat err)"
}

refused 'offcpu/duration<1/' "'duration' is a time, which needs its unit: 1ms or 1s"
refused 'offcpu/duration<fast/' "'duration' is compared with a time, such as 100us or 1s, not with 'fast'"
refused 'offcpu/state=="blocking"/' "'blocking' is no state; use runnable, futex, sleeping, poll"
refused 'offcpu/state>3/' "'state' is text, which is compared by ==, != or ~"
refused 'offcpu/cgroup~"*x"/' "'cgroup' is compared by == or !="
refused 'offcpu/cgroup=="/no/such"/' "no cgroup '/no/such'" 1
refused 'offcpu/filename=="x"/' "'filename' is no field of offcpu; use comm, pid, tid, cpu, duration, state or cgroup"
refused 'offcpu/pid==1' "has no '/' at its end"
refused 'offcpu//' "the filter of 'offcpu' is empty"
refused 'lock/pid==1/' "'lock' takes no filter; offcpu, tracepoints and probes do"
refused 'offcpu/pid==1/,offcpu/pid==2/' "offcpu has two filters"
