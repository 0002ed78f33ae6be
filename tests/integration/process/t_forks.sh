#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program with thousands of children that end at once: the recorder frees their state when it is not needed any more,
# and afterwards has no more to do than before.
# class: long
# takes: 25 s
source "$(dirname "$0")/../lib.sh"

CHILDREN=2500

"${CC:-gcc}" -std=gnu11 -O1 "$TEST_DIR/forks.c" -o forks
"${CC:-gcc}" -std=gnu11 -O1 -fPIC -shared "$TEST_DIR/heap_use.c" -o heap_use.so -pthread

# What the recorder's loop takes of a CPU in 0.3 seconds in which the program waits: the least of some, as the machine
# has other work.
idle_us()
{
	local before after i least=

	for ((i = 0; i < 5; i++)); do
		read -r before _ <"/proc/$RECORD_PID/schedstat"
		sleep 0.3
		read -r after _ <"/proc/$RECORD_PID/schedstat"
		[[ -n $least && $least -le $((after - before)) ]] || least=$((after - before))
	done
	echo $((least / 1000))
}

# children WORD: the program starts children until it has said the word.
children()
{
	go_on
	wait_says out "$1"
}

# A child's state takes 5 kB.
forgotten()
{
	[[ $(cat heap) -le $((heap + 2000 * CHILDREN)) ]] || gone_or_zombie "$RECORD_PID"
}

# Other programs can make it more for a while; what is left to do is so always.
idle_as_before()
{
	idle_us >later
	[[ $(cat later) -le $((2 * first_us + 2000)) ]] || gone_or_zombie "$RECORD_PID"
}

start_program out ./forks $CHILDREN $CHILDREN
LD_PRELOAD=$PWD/heap_use.so HEAP_USE=$PWD/heap start_record -F 97 -o forks.trace -p "$JAVA_PID"
wait_sampling
# With the first ones the recorder makes what it keeps: tables, and the kernel's symbols for the first sample.
children first
wait_for "a sample" more_samples 1 "$RECORD_PID"
sleep 2 # the recorder keeps an ended process for two seconds
first_us=$(idle_us)
heap=$(cat heap)
children second
sleep 2
wait_for "the end of the memory of $CHILDREN children: $(cat heap) bytes, before them $heap" forgotten
wait_for "a recorder that has no more to do than before" idle_as_before
echo "the heap: $heap bytes before $CHILDREN children, $(cat heap) after them; idle: $first_us µs before, $(cat later) µs after them"
end_program
end_record
check forks.trace "it was recorded" 'i["samples"]["total"] > 0'
