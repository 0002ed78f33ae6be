#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The soak test's measure of growth: it detects an agent that leaks JVM TI's memory, and accepts one that does not.
# class: long
source "$(dirname "$0")/../soak.sh"

# grown NAME JAVA-OPTION...: the growth in KiB after the start of some threads, in GROWN.
grown()
{
	local name=$1 before

	shift
	start_worker "$name" -Xms32m -Xmx32m -XX:+AlwaysPreTouch -XX:NativeMemoryTracking=summary "$@"
	ask "$name" threads 10
	before=$(unaccounted "$JAVA_PID")
	ask "$name" threads $((2 * MEMORY_KB / 1024))
	GROWN=$(($(unaccounted "$JAVA_PID") - before))
	end_worker "$name" "$JAVA_PID"
}

grown leaks "-agentpath:$CLASSES/libleak.so"
[[ $GROWN -ge $MEMORY_KB ]] || fail "an agent kept $((MEMORY_KB * 2)) KiB, and $GROWN were seen"
grown clean
[[ $GROWN -lt $MEMORY_KB ]] || fail "nothing was kept, and $GROWN KiB were seen"
