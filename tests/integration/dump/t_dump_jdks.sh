#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Monitors and their owners are found in the memory of every JDK, with each way in which monitors are locked.
# class: long
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/dumps.sh"

mkdir old
"$JAVA_HOME/bin/javac" -source 8 -target 8 -d old "$TEST_DIR/Deadlocks.java" &>javac.out || fail "$(cat javac.out)"
for home in $(jdks); do
	deadlocks "$home" old
	end_program
done
