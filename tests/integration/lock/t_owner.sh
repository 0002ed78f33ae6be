#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The owner of the monitor that a thread was blocked on, and the notifier, with the stacks on which they released it. A
# thread may also check the monitor itself, by a timer (JDKs before 24), and then has no waker.
# shellcheck disable=SC2016 # names of classes have dollar signs
source "$(dirname "$0")/../lib.sh"

owners_told()
{
	events "$1" \
		"who held it" 'len([e for e in at("lock", "Owner.enterMonitor") if e.other and e.other.name == "owner" and
			"Owner.holdMonitor" in e.other_stack]) > 15 // 2' \
		"or that it is not known" '{e.other.name for e in at("lock", "Owner.enterMonitor") if e.other} == {"owner"}' \
		"how long" 'as_long(at("lock", "Owner.enterMonitor"), truth["blocked"][0]) and
			{e.name for e in at("lock", "Owner.enterMonitor")} == {"Owner$Held"}' \
		"nothing lost" 'lost == []'
}

# With the kernel's own off-CPU times, and without.
"${UNDISTURBED[@]}" "$BUILD/braid" record -e lock,wait -o both.trace -- "$JAVA" -cp "$CLASSES" Owner >both.trace.truth 2>err
owners_told both.trace
events both.trace \
	"who notified" 'len([e for e in at("wait", "Owner.listen") if e.other and e.other.name == "owner" and "Owner.tell" in e.other_stack]) >= 12' \
	"how long" 'as_long(at("wait", "Owner.listen"), truth["waited"][0])'
"${UNDISTURBED[@]}" "$BUILD/braid" record -e lock -o lock.trace -- "$JAVA" -cp "$CLASSES" Owner >lock.trace.truth 2>err
owners_told lock.trace
events lock.trace "no times off the CPU" 'of("offcpu") == [] and of("counted", number=5) == []'
