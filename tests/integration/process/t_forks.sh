#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program with thousands of children that end at once: the recorder frees their state when it is not needed any more.
source "$(dirname "$0")/../lib.sh"

CHILDREN=2500

"${CC:-gcc}" -std=gnu11 -O1 "$TEST_DIR/forks.c" -o forks
# Without the rings, whose pages count as they are touched.
resident_kb()
{
	sed -n 's/^RssAnon:\s*\([0-9]*\) kB/\1/p' "/proc/$RECORD_PID/status"
}

has_said()
{
	[[ $(grep -c 'done' out) -ge $1 ]] || gone_or_zombie "$JAVA_PID"
}

start_program out ./forks $CHILDREN
start_record -F 9 -o forks.trace -p "$JAVA_PID"
wait_sampling
go_on
wait_for "the first children" has_said 1
sleep 3 # the recorder keeps an ended process for two seconds
before_kb=$(resident_kb)
go_on
wait_for "the other children" has_said 2
more_kb=$(($(resident_kb) - before_kb))
end_program
end_record
[[ $more_kb -le 4096 ]] || fail "the second $CHILDREN children cost $more_kb kB"
echo "the second $CHILDREN children cost $more_kb kB"
check forks.trace "it was recorded" 'i["samples"]["total"] > 0'
