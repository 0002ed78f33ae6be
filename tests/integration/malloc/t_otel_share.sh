#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Of an allocator's own samples, one process has at most half of those that are followed: the rest is counted as lost, and what is
# known of another process that ended before stays.
# class: long
# takes: 15 s
source "$(dirname "$0")/../lib.sh"

cc -O2 -fno-toplevel-reorder -o program "$TEST_DIR/otel_memory.c"
all=140000 # of which a fourth is kept
braid record -e "malloc:$PWD/program:otel_memory" -o a.trace -- sh -c "./program 200; ./program $all" 2>err || fail "$(cat err)"
braid script --raw a.trace | awk -v all=$all '
	function value(key) { return match($0, " " key "=\"?[0-9a-z_]+") ? substr($0, RSTART + length(key) + 2, RLENGTH - length(key) - 2) : "" }
	/^process / { pid[value("id")] = value("pid") }
	/^jvm_event / { n[value("kind")]++ }
	/^jvm_event / && value("kind") == 42 { of[value("process")]++ }
	/^loss / { t = value("kind"); sub(/^"/, "", t); lost[t] += value("count") }
	END {
		for (p in of) { counts = counts " " of[p]; if (of[p] == 50) small++; else if (of[p] <= 32768) large += of[p] }
		print n[41] + 0, "allocated,", lost["malloc"] + 0, "of them lost;", n[42] + 0, "not freed:" counts ";", lost["unfreed"] + 0, "lost"
		# Each that was sampled is one that was freed, is kept, or was lost.
		exit !(n[41] + lost["malloc"] == all + 200 && small == 1 && n[42] == 50 + large && large + lost["unfreed"] + lost["malloc"] >= all / 4)
	}' >counts || fail "$(cat counts err)"
cat counts
