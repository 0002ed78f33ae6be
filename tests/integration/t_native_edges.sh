#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Signal frames, the vdso, the PLT, realigned stacks, threads: walked through, to the thread's first function.
source "$(dirname "$0")/lib.sh"

for option in "-O1" "-O2 -mavx2 -ftree-vectorize" "-O1 -Wl,-z,lazy"; do
	# shellcheck disable=SC2086 # options
	"${CC:-gcc}" -std=gnu11 $option -fno-optimize-sibling-calls -fno-inline "$LIB_DIR/native/edges.c" -o program -pthread
	braid record -q -F 1999 -o e.trace -- ./program 2
	check e.trace \
		"$option: handlers, on top of what they interrupted" 'weight(with_frame("on_alarm")) > 30 and whole(with_frame("on_alarm")) >= 99
			and all_match(with_frame("on_alarm"), r";(main|start_thread);work;.*;(__restore_rt|\[libc[^;]*);on_alarm") >= 95' \
		"$option: vdso" 'weight(with_frame("ask_clock")) > 10 and whole(with_frame("ask_clock")) >= 99 and
			weight([(s, n) for s, n in with_frame("ask_clock") if any(plain(f).startswith("__vdso_") for f in s)]) > 3' \
		"$option: realigned" 'weight(with_frame("realigned")) > 10 and whole(with_frame("realigned")) >= 99' \
		"$option: plt" 'weight(with_frame("over_plt")) > 5 and whole(with_frame("over_plt")) >= 99' \
		"$option: both threads" 'weight(with_frame("start_thread")) > 100 and weight(with_frame("main")) > 100' \
		"$option: all" 'share(i["samples"]["complete"], i["samples"]["total"]) >= 99'
done
