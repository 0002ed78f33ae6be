#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `braid threads` has every virtual thread, mounted or not, with its state, its whole stack, and the deadlocks that it is
# part of. Equal ones are one group.
# shellcheck disable=SC2016 # names of classes have dollar signs
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/dumps.sh"

need_jdk 21
"$JDK/bin/javac" --release 21 -d . "$TEST_DIR/java21/Virtual.java"
virtuals "$JDK"
STATUS=0
braid threads "$JAVA_PID" -o kept.trace >text 2>err || STATUS=$?
[[ $STATUS -eq 4 ]] || fail "status $STATUS: $(cat err)"
grep -q '^3000 virtual threads, WAITING, unmounted: parked, Condition of java.util.concurrent.locks.ReentrantLock\$NonfairSync:$' \
	text || fail "no group: $(grep 'virtual threads, ' text)"
grep -q '^    "lock-1" virtual thread [0-9]* waits for a java.*, which "lock-2" virtual thread [0-9]* owns$' text ||
	fail "the deadlock is not named: $(head -30 text)"
braid script --event dump_vthread kept.trace | finds 'braid:dump_vthread:.* threads=1 ' || fail "the trace has no dump"

end_program

# The same in a JVM that refuses the agent, without which methods that are inlined in others are not in the stacks.
virtuals "$JDK" -XX:+DisableAttachMechanism -Xint
end_program
