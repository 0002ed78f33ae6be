#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Processes that live for some milliseconds and exec right after the fork: their stacks are whole, too.
source "$(dirname "$0")/../lib.sh"

# Bound at the start: no unwind row can express the frame of the dynamic linker's lazy resolver.
"${CC:-gcc}" -std=gnu11 -O1 -Wl,-z,now "$TEST_DIR/short.c" -o short
"${CC:-gcc}" -std=gnu11 -O1 -static -no-pie "$TEST_DIR/short.c" -o fixed
for program in short fixed; do # a static program has the same addresses before and after it executes itself
	braid record -q -F 1999 -o "$program.trace" -- "./$program" 150
	check "$program.trace" \
		"$program: samples" 'with_frame("child_work")' \
		"$program: whole from the first one on" 'mostly_whole(with_frame("child_work"), 99.5)' \
		"$program: from main on" 'mostly_match(with_frame("child_work"), ";main;child_work(;|$)", 99.5)' \
		"$program: all" 'at_least(i["samples"]["complete"], i["samples"]["total"], 98)'
done
