#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Native allocations are as many as the program made, and what is not freed are its leaks, with their stacks; afterwards
# nothing calls the agent any more. Whatever allocator the program has.
# class: long
# takes: 10 s
source "$(dirname "$0")/../lib.sh"

JNI=(-Xmx64m -cp "$CLASSES" "-Djava.library.path=$CLASSES")
HERE=$(dirname "$0")

# leaked FILE: all that Leaks allocates, but what the JVM itself does is not known.
leaked()
{
	events "$1" \
		"allocated" 'all(close(total(at("malloc", f), "weight"), int(n), 2, error(at("malloc", f)))
			for f, n in [("make_noise", one("allocated", "noise") + one("allocated", "foreign")), ("foreign_main", one("allocated", "foreign"))])' \
		"leaked" '(lambda left: all(close(total(some, "weight"), int(n), 2, error(some))
			for f, n in truth["leak"] for some in [[e for e in at("malloc", f) if e.number in left]]))({e.number for e in of("unfreed")})' \
		"freed" '(lambda left: [e for e in at("malloc", "make_noise") if e.number in left] == [])({e.number for e in of("unfreed")})' \
		"by function" '{e.name for e in at("malloc", "leak_middle")} == {"calloc"} and "realloc" in {e.name for e in at("malloc", "leak_small")}' \
		"sizes" '{e["value"] for e in at("malloc", "leak_large")} == {1024} and {e["value"] for e in at("malloc", "leak_middle")} == {65536}' \
		"stacks" 'all(e.stack[0] == "leak_large" and e.stack[1:3] == ["Java_Leaks_large", "Leaks.large"] for e in at("malloc", "leak_large"))' \
		"threads" '{e.thread.name for e in at("malloc", "Leaks.noise")} == {"main", "noisy"}' \
		"each once" 'len({e.number for e in of("malloc")}) == len(of("malloc")) and len({e.number for e in of("unfreed")}) == len(of("unfreed"))' \
		"nothing lost" 'lost == []'
}

# From the start. Stacks of code that was loaded a moment ago are incomplete until the collector has read where it is,
# which it has when it answers.
start_program start.trace.truth "$BUILD/braid" record -e malloc=64k -o start.trace -- "$JAVA" "${JNI[@]}" Leaks 8192 wait
RECORD_PID=$JAVA_PID
wait_child "$RECORD_PID" java
wait_joined "$CHILD"
braid ctl "$RECORD_PID" interval malloc=64k >/dev/null
go_on
wait_says start.trace.truth end
go_on
end_program
leaked start.trace
events start.trace "the JVM's own, from its start on" 'any("create_vm" in f for e in of("malloc") for f in e.stack)'
braid report --full start.trace >tables
sed -n '/^Native memory not freed/,/^$/p' tables | sed -n '/ caller$/,/ stack$/p' | grep -o 'leak_.*' >order
[[ $(paste -sd " " order) == "leak_large leak_middle leak_small" ]] || fail "the leaks are in another order: $(cat tables)"
braid report --json start.trace | python3 -c '
import json, sys
e = json.load(sys.stdin)["events"]["unfreed"]
assert [c["name"] for c in e["by_caller"][:3]] == ["leak_large", "leak_middle", "leak_small"], e["by_caller"]
assert [f["name"] for f in e["by_stack"][0]["frames"][:3]] == ["leak_large", "Java_Leaks_large", "Leaks.large"], e["by_stack"][0]' || fail "the JSON report"
braid export --event unfreed start.trace >stacks
grep -q 'Leaks.main;.*;Leaks.middle;Java_Leaks_middle;leak_middle;calloc [0-9]*$' stacks || fail "no stacks: $(cat stacks)"
[[ $(grep -c libbraid stacks) -eq 0 ]] || fail "frames of the agent: $(cat stacks)"

hooked()
{
	[[ -n $(python3 "$HERE/hooks.py" "$JAVA_PID") ]]
}

unhooked()
{
	! hooked
}

# A recorder that is killed leaves nothing behind either.
killed()
{
	start_record -e malloc -p "$JAVA_PID" -o killed.trace
	wait_for "slots that lead to the agent" hooked
	kill -KILL "$RECORD_PID"
	wait_end "$RECORD_PID" "the recording"
	wait_for "the slots that were there" unhooked
}

# Attached to a JVM that goes on, with every allocator that is installed.
for allocator in "" /usr/lib/*/libjemalloc.so.2 /usr/lib/*/libtcmalloc_minimal.so.4; do
	[[ -z $allocator || -e $allocator ]] || { echo "not installed: $allocator"; continue; }
	start_program run.trace.truth env ${allocator:+LD_PRELOAD=$allocator} "$JAVA" "${JNI[@]}" Leaks 8192 wait
	start_record -e malloc=64k -p "$JAVA_PID" -o run.trace
	wait_attached "$JAVA_PID"
	wait_events "$JAVA_PID"
	hooked || fail "no slots lead to the agent"
	go_on
	wait_says run.trace.truth end
	stop_record
	wait_for "the slots that were there" unhooked
	[[ -n $allocator ]] || killed
	go_on
	end_program
	leaked run.trace
done
