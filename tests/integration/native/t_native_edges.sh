#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Signal frames, the vdso, the PLT, realigned stacks, threads: walked through, to the thread's first function.
# takes: 8 s
source "$(dirname "$0")/../lib.sh"

for option in "-O1" "-O2 -mavx2 -ftree-vectorize" "-O1 -Wl,-z,lazy"; do
	# shellcheck disable=SC2086 # options
	"${CC:-gcc}" -std=gnu11 $option -fno-optimize-sibling-calls -fno-inline "$TEST_DIR/edges.c" -o program -pthread
	braid record -q -F 1999 -o e.trace -- ./program 0.8
	check e.trace \
		"$option: handlers, on top of what they interrupted" 'mostly_whole(with_frame("on_alarm")) and
			mostly_match(with_frame("on_alarm"), r";(main|start_thread);work;.*;(__restore_rt|\[libc[^;]*);on_alarm", 98)' \
		"$option: vdso" 'mostly_whole(with_frame("ask_clock")) and
			any(plain(f).startswith("__vdso_") for s, _ in with_frame("ask_clock") for f in s)' \
		"$option: realigned" 'mostly_whole(with_frame("realigned"))' \
		"$option: plt" 'mostly_whole(with_frame("over_plt"))' \
		"$option: both threads" 'mostly_whole(with_frame("start_thread")) and mostly_whole(with_frame("main"))' \
		"$option: all" 'i["lost"] == {} and at_least(i["samples"]["complete"], i["samples"]["total"], 99)'
done
