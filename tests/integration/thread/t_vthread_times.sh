#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each virtual thread's times off its carrier: as long as the program says, on the right stack, by the right name, and
# the parts of each life add up to it, and explain it; of ten thousand threads, and of those that were parked before the
# recording.
# class: long
# takes: 30 s
source "$(dirname "$0")/../lib.sh"

# on JDK: the program with that, recorded from its start on and later.
on()
{
	local java=$1/bin/java name

	name=$(basename "$1")
	[[ -e VParks.class ]] || "$1/bin/javac" --release 21 -d . "$TEST_DIR/java21/VParks.java"
	braid record -q -e offcpu -o "$name.trace" -- "$java" -cp . VParks 10000 >"$name.trace.truth" 2>err ||
		fail "$(cat err)"
	compare "$name.trace" whole
	# the report has the same lives
	braid report --wall --json --top 100000 "$name.trace" >wall.json
	python3 "$TEST_DIR/vwall.py" wall.json
	braid report --wall "$name.trace" >wall.txt
	grep -q '^Virtual threads: ' wall.txt || fail "the report has no virtual threads"
	grep -q 'k1-\* (2500 virtual threads)' wall.txt || fail "no group of virtual threads"
	braid export --event wall "$name.trace" >wall.stacks
	grep -q 'VParks.off1;.*VirtualThread.*;\[parked\] ' wall.stacks || fail "no stack of a parked virtual thread"

	attach_midway -F 99 -e cpu,offcpu -- "$java" -XX:+EnableDynamicAgentLoading -cp . VParks 100 wait
	compare attach.trace part
	explained attach.trace
}

# explained TRACE: a virtual thread's time can be explained, by its name and by its number.
explained()
{
	local number

	number=$(awk '$1 == "off" && $2 == "k1-1" { print $3 }' "$1.truth")
	braid explain --thread k1-1 --json "$1" >explain.json
	braid explain --thread "$number" --json "$1" | cmp - explain.json || fail "another one has the number $number"
	python3 -c '
import json, sys
e = json.load(open("explain.json"))
assert e["thread"] == "k1-1" and e["virtual"] == int(sys.argv[1]), (e["thread"], sys.argv[1])
assert abs(sum(p["time_s"] for p in e["parts"]) - e["time_s"]) < 1e-6, e["parts"]
assert [p for p in e["parts"] if (p["who"], p["state"], p["site"]) == ("k1-1", "parked", "VParks.off1")], e["parts"]' "$number"
	# Nothing says who unparked it.
	braid explain --thread k1-1 --what-if sleeping=0 "$1" >changed.txt
	finds 'it is not known who ended waits of ' <changed.txt || fail "all wakers are known: $(cat changed.txt)"
	finds ' parked .*in VParks.off1$' <changed.txt || fail "not the park: $(cat changed.txt)"
}

compare()
{
	BUILD=$BUILD PYTHONPATH=$LIB_DIR python3 "$TEST_DIR/vparks.py" "$@" || {
		braid info "$1" >&2 || true
		fail "$1: see above"
	}
}

on_each_version 21 on
