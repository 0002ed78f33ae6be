#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs without call frame information, with and without frame pointers: every stack is whole and has the right callers.
# takes: 10 s
source "$(dirname "$0")/../lib.sh"

no_cfi=(-fno-asynchronous-unwind-tables -fno-unwind-tables)
chain='main;run;(with_buffer|with_alloca);|main;run;(dive;){11}|main;run;.*compare|main;run(;clock|$)|;main;run;burn(;|$)'
# build NAME OPTION...; then its stacks
try()
{
	local name=$1

	shift
	"${CC:-gcc}" -std=gnu11 "$@" "$TEST_DIR/plain.c" -o "$name"
	braid record -q -F 997 -o "$name.trace" -- "./$name" 0.6
	check "$name.trace" "$name: samples" 'enough(weight(with_frame("burn")), 500)' \
		"$name: whole" 'mostly_whole(with_frame("burn"), 99.5)' \
		"$name: from main on" "mostly_match(with_frame('burn'), '$chain', 99.5)" \
		"$name: nothing lost" 'i["lost"] == {}'
}

try o2 -O2 -fno-optimize-sibling-calls -fno-inline "${no_cfi[@]}" -fomit-frame-pointer
try fp -O2 -fno-optimize-sibling-calls -fno-inline "${no_cfi[@]}" -fno-omit-frame-pointer
try o0 -O0 "${no_cfi[@]}"
try clash -O2 -fno-optimize-sibling-calls -fno-inline "${no_cfi[@]}" -fstack-clash-protection -fcf-protection
