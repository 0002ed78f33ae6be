#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Bursts find room: a program's first samples while the recorder gets no CPU, and allocations that are enabled later.
# class: long
# takes: 15 s
# alone: a recorder that gets no CPU would lose what other programs map
source "$(dirname "$0")/../lib.sh"

"${CC:-gcc}" -std=gnu11 -O1 -fno-optimize-sibling-calls -fno-inline "$LIB_DIR/native/edges.c" -o program -pthread

# stalled NAME FREQUENCY SECONDS: the recorder is stopped from before the program's start until after its end.
stalled()
{
	# shellcheck disable=SC2016 # the recorder is the parent of its command
	braid record -q -F "$2" -o "$1.trace" -- sh -c 'kill -STOP $PPID; ./program "$0"; kill -CONT $PPID' "$3"
}

# The copies of the stacks of 0.15 s have room. A virtual machine that gets no CPU samples its program for longer.
for frequency in 1999 9999; do
	stalled short "$frequency" 0.1
	room=$((frequency * 15 / 100))
	check short.trace "$frequency: every sample that has room, walked later" 'i["lost"] == {} and
		weight(with_frame("main")) > 20 and
		at_least(min(i["samples"]["complete"], '$room'), min(i["samples"]["total"], '$room'), 99)'
done
stalled long 1999 2
check long.trace \
	"as many as there is room for" 'i["samples"]["complete"] >= 300' \
	"the others without their ends" 'i["lost"] == {} and i["samples"]["by_cause"]["no_mapping"] >= 1000'

[[ $(java_version) -ge 11 ]] || exit 0 # JDKs with sampled allocations
start_program said "$JAVA" -cp "$CLASSES" Allocator 1500 0 wait
start_record -o alloc.trace -p "$JAVA_PID"
wait_joined "$JAVA_PID"
braid ctl "$RECORD_PID" enable alloc=4k >/dev/null
go_on
wait_says said end
end_program
end_record
# Nothing waits for a recorder that gets no CPU, so a busy machine may lose some. Reading only at every tick would lose
# a fifth to a third.
check alloc.trace "enabled later" 'set(i["lost"]) <= {"bpf"} and r["events"]["alloc"]["count"] > 150000 and
	i["lost"].get("bpf", {}).get("alloc", 0) <= 0.1 * r["events"]["alloc"]["count"]'
