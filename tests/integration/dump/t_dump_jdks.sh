#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Monitors and their owners are found in the memory of every JDK, with each way in which monitors are locked; so are virtual
# threads, with each way in which objects are kept.
# class: long
# takes: 60 s
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/dumps.sh"

has_deep()
{
	braid threads "$JAVA_PID" --json >dump.json 2>err || true
	grep -q 'the dump lacks virtual threads: [0-9]* references in the heap cannot be followed while ZGC' err ||
		says 'is_virtual("deep", "WAITING", "unmounted", "deep")' 2>said
}

mkdir old
"$JAVA_HOME/bin/javac" -source 8 -target 8 -d old "$TEST_DIR/Deadlocks.java" &>javac.out || fail "$(cat javac.out)"
for home in $(jdks); do
	deadlocks "$home" old
	end_program
	deadlocks "$home" old -XX:+DisableAttachMechanism
	end_program
done

for home in $(jdks); do
	is_jdk "$home" 21 || continue
	[[ -e Virtual.class ]] || "$home/bin/javac" --release 21 -d . "$TEST_DIR/java21/Virtual.java"
	for options in -XX:+UseSerialGC -XX:+UseParallelGC "-XX:+UseG1GC -XX:-UseCompressedOops" -Xint; do
		# shellcheck disable=SC2086 # two options
		virtuals "$home" $options
		end_program
	done
	# What ZGC has moved and the program has not touched since is missing, and that is said.
	start_program out "$home/bin/java" -XX:+UseZGC -cp . Virtual 3000
	wait_for "what ZGC has left" has_deep
	end_program
done
