#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A dump of 2000 threads has each of them, in one group.
source "$(dirname "$0")/../lib.sh"

listed()
{
	braid threads "$JAVA_PID" --all >text 2>err && [[ $(grep -c '^"many-.*WAITING, sleeping: parked:$' text) -eq 2000 ]]
}

start_program out "$JAVA" -Xmx64m -Xss256k -XX:TieredStopAtLevel=0 -cp "$CLASSES" Deadlocks 2000
wait_for "2000 threads" listed || fail "$(head -5 text err)"
braid threads "$JAVA_PID" >text 2>err || fail "$(cat err)"
grep -q '^2000 threads, WAITING, sleeping: parked:$' text || fail "no group: $(grep 'threads, ' text)"
grep -q '^    and 1990 more$' text || fail "more than ten are named: $(head -30 text)"
! grep -q 'incomplete\|no stack' text || fail "a stack is not whole: $(grep -B30 'incomplete\|no stack' text)"
end_program
