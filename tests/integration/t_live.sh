#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Of the sampled objects those are live at the end that the program has kept.
# shellcheck disable=SC2016 # names of classes have dollar signs
source "$(dirname "$0")/lib.sh"

[[ $(java_version) -ge 11 ]] || skip "sampled allocations came with JDK 11"

live()
{
	events "$1" \
		"what was kept lives" 'close(total(of("live", name="int[]"), "weight"), one("site", "Allocator.atKept", "int[]"), 5, error(of("live", name="int[]")))' \
		"and nothing else of the program" 'named("live", "long\\[\\]|Allocator\\$Node") == []' \
		"each is an allocation of before" 'all(len([a for a in of("alloc", number=e.number) if a.name == e.name and
			a["value"] == e["value"] and a.time_ns == e.time_ns]) == 1 for e in of("live"))' \
		"once" 'len({e.number for e in of("live")}) == len(of("live"))' \
		"as old as it is" 'all(e.duration_ns > 0 for e in of("live"))' \
		"nothing lost" 'lost == []'
}

# The program ends.
braid record -e alloc=64k,live=65536 -o end.trace -- "$JAVA" -Xmx512m -cp "$CLASSES" Allocator 300 4000 >end.trace.truth 2>err
live end.trace
events end.trace "each stands for what its allocation did" 'all(e.weight == of("alloc", number=e.number)[0].weight for e in of("live"))'

# The recording ends; there is room for a few, which stand for all.
mkfifo in
"$JAVA" -Xmx512m -cp "$CLASSES" Allocator 300 4000 wait <in >stop.trace.truth 2>err &
JAVA_PID=$!
exec {IN}>in
wait_for "the program" grep -qs ready stop.trace.truth
start_record -e alloc=64k,live=300 -p "$JAVA_PID" -o stop.trace
wait_attached "$JAVA_PID"
wait_events "$JAVA_PID"
echo >&"$IN"
wait_for "the program's end" grep -qs end stop.trace.truth
stop_record
events stop.trace "it was full" 'len(of("live")) <= 300 and max(e.weight for e in of("live")) > max(e.weight for e in of("alloc"))'
live stop.trace
echo >&"$IN"
wait_end "$JAVA_PID" "the program"
