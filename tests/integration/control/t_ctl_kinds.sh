#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Kinds of events whose programs are loaded while a recording runs, and those that are disabled and enabled again.
# class: long
# takes: 15 s
# shellcheck disable=SC2016 # names of classes have dollar signs
source "$(dirname "$0")/../lib.sh"

# ---- a kind that the kernel reports, off and on ----
start_worker other
start_record -e cpu,safepoint,wait -p "$JAVA_PID" -o d.trace
wait_joined "$JAVA_PID"
braid ctl "$JAVA_PID" disable wait,safepoint >out
wait_answered
grep -qE "^process $JAVA_PID: cpu( \(not answered yet\))?$" out || fail "disable: $(cat out)"
ask other gc 2
braid ctl "$JAVA_PID" enable all >out 2>err
grep -q ',wait=.*,safepoint' out || fail "enable all: $(cat out err)"
end_worker other "$JAVA_PID"
end_record
# ---- kinds whose programs are loaded then: all at once, and one after the other ----
options=()
[[ $(java_version) -ge 15 ]] || options=(-XX:-UseBiasedLocking) # see t_locks.sh
# late NAME PROGRAM KIND...: the program continues when all of them are enabled.
late()
{
	local name=$1 program=$2 fd list

	shift 2
	mkfifo "$name.in"
	# shellcheck disable=SC2086 # words
	"${UNDISTURBED[@]}" "$JAVA" "${options[@]}" -cp "$CLASSES" $program wait <"$name.in" >"$name.trace.truth" 2>err &
	JAVA_PID=$!
	exec {fd}>"$name.in"
	wait_for "the program" grep -qs ready "$name.trace.truth"
	start_record -e cpu -p "$JAVA_PID" -o "$name.trace"
	wait_joined "$JAVA_PID"
	wait_sampling
	for list; do
		braid ctl "$JAVA_PID" enable "$list" >out 2>err || fail "enable $list: $(cat out err)"
		[[ ! -s err ]] || fail "enable $list: $(cat err)"
	done
	wait_answered
	printf "\n\n" >&"$fd" # some wait again at their end
	exec {fd}>&-
	wait_end "$JAVA_PID" "the program"
	end_record
}
late once "Monitors 25" lock,wait
late steps "Monitors 25" thread lock wait
for name in once steps; do
	events $name.trace \
		"all locks" 'all(abs(len([e for e in of("lock", name=c) if e.duration_ns >= 1e6]) - int(n)) <= 1 for c, _, n in truth["blocked"])' \
		"where" 'most("Monitors.enter" in e.stack for e in named("lock", "Monitors\\$(Narrow|Wide)"))' \
		"who held them" 'any(e.other and e.other.name.startswith("contender-") and "Monitors.enter" in e.other_stack
			for e in named("lock", "Monitors\\$(Narrow|Wide)"))' \
		"waits" 'len(at("wait", "Monitors.await")) > 10' \
		"who notified" 'any(e.other and e.other.name == "ringer" and "Monitors.ring" in e.other_stack for e in at("wait", "Monitors.await"))' \
		"threads off the CPU" 'len([e for e in at("offcpu", "Monitors.pause") if e.duration_ns >= 5e6]) > 100' \
		"no two times at once" 'at_once(of("offcpu")) == []' \
		"nothing lost" 'lost == []'
done
if [[ $(java_version) -ge 11 ]]; then # JDKs with sampled allocations
	late alloc "Allocator 500 0" alloc=256k
	events alloc.trace \
		"allocations" 'len(at("alloc", "Allocator.main")) > 500 and most("Allocator.main" in e.stack for e in of("alloc"))' \
		"nothing lost" 'lost == []'
fi
