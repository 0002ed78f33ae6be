#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Stack requests: a JVM without privileges gets its stacks. One that must not make the system call has events without
# stacks and one notice, and lives.
# class: long
# takes: 10 s
# shellcheck disable=SC2016 # names of classes have dollar signs
source "$(dirname "$0")/../lib.sh"

# See t_locks.sh.
options=()
[[ $(java_version) -ge 15 ]] || options=(-XX:-UseBiasedLocking)
"${CC:-gcc}" -std=gnu11 -O1 "$LIB_DIR/programs/seccomp.c" -o filtered

all_events()
{
	events "$1" \
		"all there" 'all(abs(len([e for e in of("lock", name=c) if e.duration_ns >= 1e6]) - int(n)) <= 1 for c, _, n in truth["blocked"])' \
		"as long as the program says" 'all(close(total([e for e in of("lock", name=c) if e.duration_ns >= 1e6], "duration_ns"), int(ns), 2)
			for c, ns, _ in truth["blocked"])' \
		"of their threads" 'all(e.thread.name.startswith("contender-") for e in named("lock", "Monitors\\$(Narrow|Wide)"))' \
		"nothing lost" 'lost == []'
}

for answer in EPERM kill; do
	"${UNDISTURBED[@]}" "$BUILD/braid" record -e lock -o $answer.trace -- ./filtered $answer "$JAVA" "${options[@]}" -cp "$CLASSES" Monitors 10 >$answer.trace.truth 2>err
	all_events $answer.trace
	events $answer.trace \
		"without stacks" 'all(e.stack == [] for e in of("lock"))' \
		"said once" 'len([n for n in notices if "seccomp" in n]) == 1'
done

# A filter that is set during the recording, as the first one or an additional one.
for in_front in "" "./filtered allow"; do
	# shellcheck disable=SC2086 # words
	braid record -e lock -o later.trace -- $in_front "$JAVA" "${options[@]}" -Djava.library.path="$CLASSES" -cp "$CLASSES" Sandboxed 5 2>err ||
		fail "ended with $?: $(cat err)"
	events later.trace \
		"all there" 'len(of("lock", name="Sandboxed")) == 10' \
		"stacks before, none after" '[e.stack != [] for e in sorted(of("lock", name="Sandboxed"), key=lambda e: e.time_ns)] == [True] * 5 + [False] * 5' \
		"said once" 'len([n for n in notices if "seccomp filter was installed" in n]) == 1'
done

# Attached, of another user.
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all"
$nobody "$JAVA" -version >out 2>&1 || skip "this JDK is not for everybody"
# The classes may be in a directory that others cannot enter.
mkdir classes
cp "$CLASSES"/Monitors*.class classes/
# shellcheck disable=SC2086 # words
start_program nobody.trace.truth "${UNDISTURBED[@]}" $nobody "$JAVA" "${options[@]}" -cp classes Monitors 10 wait
start_record -e lock -p "$JAVA_PID" -o nobody.trace
wait_attached "$JAVA_PID"
wait_events "$JAVA_PID"
end_program
end_record
all_events nobody.trace
events nobody.trace \
	"with stacks" 'all("Monitors.enter" in e.stack for e in named("lock", "Monitors\\$(Narrow|Wide)"))' \
	"nothing to say" 'not [n for n in notices if "stack" in n]'
