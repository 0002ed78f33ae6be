#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads start, end and are renamed exactly as in the program's output, with their attributes.
# class: long
# takes: 20 s
source "$(dirname "$0")/../lib.sh"

all_told()
{
	events "$1" \
		"every quick thread, once" 'len(named("thread_start", "quick-\\d+")) == one("quick") and
			len(named("thread_end", "quick-\\d+")) == one("quick") and
			len({e.name for e in named("thread_end", "quick-\\d+")}) == one("quick")' \
		"an end is of the thread that started" 'all(e.thread.name == e.name for e in named("thread_end", "quick-\\d+"))' \
		"no end before its start" 'all(s.time_ns <= e.time_ns for s in named("thread_start", "quick-\\d+")
			for e in of("thread_end", name=s.name))' \
		"workers" '[(s.name, s.detail, s["value"], s.flags) for s in sorted(named("thread_start", "worker-\\d"), key=lambda s: s.name)] ==
			[("worker-0", "squad", 3, 0), ("worker-1", "squad", 4, 1), ("worker-2", "squad", 5, 0), ("worker-3", "squad", 6, 1)]' \
		"their last names" 'len(named("thread_rename", "done-\\d")) == 4 and len(named("thread_end", "done-\\d")) == 4 and
			sum(t.name.startswith("done-") for t in threads.values()) == 4' \
		"their CPU time, but for what start and end themselves take" 'all(-1e7 < of("thread_end", name=name)[0]["value"] - int(ns) < 5e7
			for name, ns in truth["cpu"]) and len(truth["cpu"]) == 4' \
		"part of it in the kernel" 'all(e.weight <= e["value"] for e in of("thread_end"))' \
		"nothing lost" 'lost == []'
}

braid record -F 99 -o start.trace -- "$JAVA" -cp "$CLASSES" ThreadEvents 2000 >start.trace.truth 2>err
all_told start.trace

# Threads older than the agent have no start event; a rename during the recording is emitted at the end.
attach_midway -F 99 -- "$JAVA" -cp "$CLASSES" ThreadEvents 500 wait
all_told attach.trace
events attach.trace \
	"older threads" 'named("thread_start", "stays|main|was stays.*") == []' \
	"a name that changed meanwhile, all of it" '[len(of("thread_rename", name=name)) + sum(t.name == name for t in threads.values())
		for name in ["was stays: longer than the kernel can say"]] == [2]'

# A native thread is several consecutive Java threads: each has a start and an end, in turn.
braid record -F 99 -o native.trace -- "$JAVA" -Djava.library.path="$CLASSES" -cp "$CLASSES" Attached >native.trace.truth 2>err
events native.trace \
	"the program" 'truth["attached"] == [["300", "0"]]' \
	"each" 'len(named("thread_start", "attached-\\d")) == 300 == len(named("thread_end", "attached-\\d"))' \
	"in turn" 'all([e.kind for e in sorted(events, key=lambda e: e.time_ns) if e.thread is t and e.kind.startswith("thread_") and
		re.fullmatch("attached-\\d", e.name)][i::2] == [kind] * (sum(e.thread is t for e in named("thread_start", "attached-\\d")))
		for t in {e.thread.thread: e.thread for e in named("thread_start", "attached-\\d")}.values()
		for i, kind in enumerate(("thread_start", "thread_end")))' \
	"their own CPU time" 'total(named("thread_end", "attached-\\d")) < 3e9 and all(e["value"] > 0 for e in named("thread_end", "attached-\\d"))' \
	"nothing lost" 'lost == []'
