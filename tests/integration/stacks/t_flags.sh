#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# JVMs with different layouts of code, frames and files, each attached to while it runs.
# class: long
# takes: 30 s
source "$(dirname "$0")/../lib.sh"

n=0
for flags in "-Xrs" "-XX:-UsePerfData" "-XX:+UseParallelGC" "-XX:+UseZGC -XX:+UnlockExperimentalVMOptions" \
	"-XX:-SegmentedCodeCache" "-XX:-UseCompressedOops" "-XX:+PreserveFramePointer" "-XX:-Inline"; do
	n=$((n + 1))
	# shellcheck disable=SC2086 # words
	"$JAVA" $flags -version >version 2>&1 || { echo "not with this JDK: $flags"; continue; }
	# shellcheck disable=SC2086 # words
	start_worker "jvm-$n" $flags
	start_record -F 997 -p "$JAVA_PID" -o "$n.trace"
	wait_attached "$JAVA_PID"
	burn "jvm-$n" 150
	ask "jvm-$n" gc 1
	stop_record
	no_leftovers
	check "$n.trace" "$flags" 'well() and alike("old-0", "old-1") and i["lost"] == {}' \
		"order with $flags" \
		'mostly_match(with_frame("Worker.spin"), ";Worker.Old.run;Worker.alpha;Worker.beta;Worker.gamma;Worker.spin")'
	end_worker "jvm-$n" "$JAVA_PID"
done
