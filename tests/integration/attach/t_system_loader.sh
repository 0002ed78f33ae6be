#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The agent does not ask the system class loader, which can be the application's, for any class: neither when it is attached, nor
# when it is there from the start.
# takes: 10 s
source "$(dirname "$0")/../lib.sh"

events="cpu,gc,thread,class,alloc,heap=1h,method=SystemLoader.allocate"

# not_asked FILE: for no class of the JDK's, by none of its threads nor the agent's
not_asked()
{
	grep -q '^asked for SystemLoader by main$' "$1" || fail "it is not the system class loader: $(cat "$1")"
	! grep '^asked for' "$1" | grep -v '^asked for SystemLoader' || fail "others are asked for, see above"
}

# on JAVA_HOME
on()
{
	local jvm=("$1/bin/java" -Djava.system.class.loader=SystemLoader -cp . SystemLoader)

	start_program attached "${jvm[@]}"
	start_record -e "$events" -p "$JAVA_PID" -o attached.trace
	wait_events "$JAVA_PID"
	braid heap "$JAVA_PID" >heap.txt 2>heap.err || fail "exit status $? with $1: $(cat heap.err)"
	stop_record
	end_program
	not_asked attached

	echo | braid record -q -e "$events" -o started.trace -- "${jvm[@]}" >started 2>err ||
		fail "exit status $? with $1: $(cat err started)"
	not_asked started
}

"$JAVA_HOME/bin/javac" -nowarn -source 8 -target 8 -d . "$TEST_DIR/SystemLoader.java" &>javac.out || fail "$(cat javac.out)"
on_each_version 8 on
