#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two busy threads on one CPU: what they could not run is what the kernel's own statistics say.
source "$(dirname "$0")/../lib.sh"

"${CC:-gcc}" -std=gnu11 -O1 -g "$TEST_DIR/busy.c" -o busy -pthread
# Only the two of them take the CPU from each other, so neither waits for it between its reading and its end.
"${UNDISTURBED[@]}" "$BUILD/braid" record -q -e offcpu -o busy.trace -- ./busy >busy.trace.truth
! grep -q ' 0$' busy.trace.truth || skip "this kernel has no statistics of the time that threads wait for a CPU"
events busy.trace \
	"both" "len(truth['busy']) == 2" \
	"how long they waited for the CPU" "all(close(t.weight, int(w[2]), 1, 1e6 / 4.9) for w in truth['busy']
		for t in of('thread_time') if t.thread.tid == int(w[0]))" \
	"how long they had it" "all(abs(t['value'] - int(w[1])) < t.duration_ns * 0.01 + 5e6 for w in truth['busy']
		for t in of('thread_time') if t.thread.tid == int(w[0]))" \
	"they have lives" "{t.thread.tid for t in of('thread_time')} >= {int(w[0]) for w in truth['busy']}" \
	"each time is as long as it could run" "all(e['value'] == e.duration_ns for e in at('offcpu', 'busy') if e.flags >> 20 & 15 == 1)" \
	"where they were when they lost it" "total(at('offcpu', 'busy'), 'duration_ns') > 0.9 * sum(e.duration_ns
		for w in truth['busy'] for e in of('offcpu') if e.thread.tid == int(w[0]) and '[incomplete]' not in e.stack)" \
	"most of it while the recorder knew their code" "total(at('offcpu', 'busy'), 'duration_ns') > sum(int(w[2]) for w in truth['busy']) / 2" \
	"nothing lost" "lost == []"
