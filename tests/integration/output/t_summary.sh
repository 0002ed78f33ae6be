#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A report begins with ten lines at most, whatever was recorded, and what did not fit into them is below.
# alone: it records the whole machine
# class: normal
# takes: 12 s
source "$(dirname "$0")/../lib.sh"

braid record -q --preset all -F 199 -o all.trace -- "$JAVA" -Xmx64m -cp "$CLASSES" Flight >out 2>&1 || fail "$(cat out)"
braid record -q -F 997 -o native.trace -- seq 3000000 >/dev/null 2>err || fail "$(cat err)"
braid record -q -a -d 1 -o machine.trace 2>err || fail "$(cat err)"
braid record -q -e syscalls:sys_enter_write -o hits.trace -- seq 30000 >/dev/null 2>err || fail "$(cat err)"
braid record -q --preset all --no-attach -F 199 -o agentless.trace -- "$JAVA" -Xmx64m -cp "$CLASSES" Flight >out 2>&1 ||
	fail "$(cat out)"
for t in all native machine hits agentless; do
	for options in '' '--from 10ms --comm seq'; do
		# shellcheck disable=SC2086 # words
		braid report --summary $options $t.trace >summary 2>err || fail "$(cat err)"
		lines=$(wc -l <summary)
		[[ $lines -ge 3 && $lines -le 10 ]] || fail "$t $options: $lines lines: $(cat summary)"
		for what in recorded samples suspicious; do
			[[ $(grep -c "^  $what " summary) -eq 1 ]] || fail "$t $options: no $what: $(cat summary)"
		done
	done
	braid report --summary $t.trace >summary
	for part in "" --full; do
		# shellcheck disable=SC2086 # a word or none
		braid report $part $t.trace >whole
		[[ $(sed '/^$/,$d' whole | wc -l) -le 10 ]] || fail "$t $part: $(head -n 20 whole)"
	done
	braid report $t.trace | sed -n "1,$(wc -l <summary)p" | cmp - summary || fail "$t: the report does not begin with its summary"
done
# A JVM of which everything was recorded says what ran, what waited, what the collector did, and what was allocated.
braid report --summary all.trace >summary
for what in JVM hottest waited GC allocated; do
	grep -q "^  $what " summary || fail "nothing of $what: $(cat summary)"
done
braid report all.trace >whole
grep -q '^  in all .* % Java' whole || fail "no kinds of code"
grep -q '^  events ' whole || fail "no other events"
