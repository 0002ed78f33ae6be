#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Times off the CPU that are shorter than the limit of offcpu keep their stacks: they are added up, and longer ones are
# events. With other events, with a filter, and not on request.
source "$(dirname "$0")/../lib.sh"
# shellcheck source=whole.sh
source "$TEST_DIR/whole.sh"

"${CC:-gcc}" -std=gnu11 -O1 -g -fno-optimize-sibling-calls "$TEST_DIR/switcher.c" -o switcher -pthread

# Naps are of the class 3. A long one lasts 30 ms at least, and a short one can last as long on a busy machine.
naps="lambda kind, name, place: [e for e in of(kind) if e.node and e.flags >> 20 & 15 == 3 and e.thread.name == name and
	place in e.stack]"
summed="(lambda name, place: total([e for e in ($naps)('counted', name, place)]))"
single="(lambda name, place: len(($naps)('offcpu', name, place)))"
whole_naps()
{
	whole "$@" \
		"every nap has its place" "[$summed(n, f) + $single(n, f) for n in ('napper-short', 'napper-long') for f in ('left', 'right')]
			== [120, 40, 9, 3]" \
		"long ones are events" "[$single('napper-long', f) for f in ('left', 'right')] == [9, 3]" \
		"events are long" "all(e.duration_ns >= 20e6 for e in of('offcpu') if not e.flags & 0x60000)" \
		"sums are of short ones" "all(e.flags & 0x80000 and e.duration_ns < 20e6 for e in of('counted', number=5) if e.node and e['value'])" \
		"a sum can have its part of waiting for a CPU" "all(e.flags & 0x80000 for e in of('counted', number=5) if e.node)" \
		"the parts of a handover" "{f for e in of('counted', number=5) if e.flags >> 20 & 15 == 6 for f in ('left', 'right') if f in e.stack}
			== {'left', 'right'}" \
		"no news" "not any('added up' in n for n in notices)"
}

recorded plain offcpu=20ms 2000
whole_naps plain.trace
recorded others offcpu=20ms,lock,wait=20ms 2000
whole_naps others.trace

# What a filter does not select is counted without a stack, however short.
recorded part 'offcpu=20ms/state=="sleeping"/' 2000
whole part.trace "naps only" "{e.flags >> 20 & 15 for e in of('counted', number=5) if e.node and e['value']} == {3}" \
	"all naps" "sum($summed(n, f) + $single(n, f) for n in ('napper-short', 'napper-long') for f in ('left', 'right')) == 172"

recorded each 'offcpu=20ms/each/' 2000
whole each.trace "none on request" "not any(e.node for e in of('counted', number=5))" \
	"they are counted" "total([e for e in of('counted', number=5) if e.flags >> 20 & 15 == 3 and e.thread.name == 'napper-short']) > 0"
