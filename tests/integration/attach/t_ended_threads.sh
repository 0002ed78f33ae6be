#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads that end between two recordings are gone for HotSpot, too: the next recording's environment does not write to their
# freed memory.
# takes: 6 s
source "$(dirname "$0")/../lib.sh"

need_jdk 9 # the javac of 8 has no --release
"$JDK/bin/javac" -Xlint:-options --release 8 -d . "$TEST_DIR/EndingThreads.java"
cc -O2 -shared -fPIC -o freed.so "$TEST_DIR/freed.c"
# With this event, HotSpot has a state of each thread.
record_once()
{
	start_record -e exception -p "$JAVA_PID" -o "$1"
	wait_events "$JAVA_PID"
	stop_record
	wait_for "the agent's sleep" no_ring "$JAVA_PID"
}
no_ending_threads()
{
	! grep -qs '^ends-' /proc/"$JAVA_PID"/task/*/comm
}
ends_between()
{
	start_program out env LD_PRELOAD="$PWD/freed.so" "$1/bin/java" -XX:+UseSerialGC -cp . EndingThreads
	record_once first.trace
	go_on
	wait_says out joined
	wait_for "the end of the threads" no_ending_threads
	record_once second.trace
	end_program
	sed -n 's/^freed: //p' err >freed
	grep -q '^[1-9][0-9]* blocks, 0 changed$' freed || fail "$1: memory of ended threads: $(cat freed err)"
}
on_each_version 8 ends_between
