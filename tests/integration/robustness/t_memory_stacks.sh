#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program whose stacks are always new: the recorder's memory for them is bounded, and the trace is complete.
# class: long
# takes: 15 s
source "$(dirname "$0")/../lib.sh"

"${CC:-gcc}" -std=gnu11 -O1 -fno-optimize-sibling-calls "$TEST_DIR/paths.c" -o paths
start_record -F 9999 -o paths.trace -- ./paths 2
# Its own memory: the rings that it shares with the kernel grow with the CPUs and the frequency.
peak_kb=0
while kb=$(sed -n 's/^RssAnon:\s*\([0-9]*\) kB/\1/p' "/proc/$RECORD_PID/status" 2>/dev/null) && [[ -n $kb ]]; do
	peak_kb=$((kb > peak_kb ? kb : peak_kb))
	sleep 0.1
done
end_record
[[ $peak_kb -gt 0 && $peak_kb -le 36864 ]] || fail "$peak_kb kB were resident"
check paths.trace \
	"more nodes than are remembered" 'i["overhead"]["stack_renewals"] >= 1' \
	"nothing lost" 'i["lost"] == {} and i["samples"]["total"] == weight(stacks)' \
	"whole" 'at_least(weight(with_frame("burn")), i["samples"]["total"], 97)' \
	"every level" 'at_least(weight([(s, n) for s, n in with_frame("burn") if sum(plain(f) in ("left", "right") for f in s) == 49]), weight(with_frame("burn")), 99.5)'
