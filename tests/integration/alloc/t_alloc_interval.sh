#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The sampling interval belongs to the JVM: a thread's first sample has the weight of the interval that was set when it
# was selected, and after the recording the interval is what it was before.
source "$(dirname "$0")/../lib.sh"

[[ $(java_version) -ge 11 ]] || skip "sampled allocations came with JDK 11"

# The threads selected their first samples at the default of 512 KiB, before the recording sets 16 MiB: their sum
# exceeds the allocated bytes by five standard errors at most.
attach_midway -e alloc=16m -- "$JAVA" -Xmx256m -cp "$CLASSES" -Djava.library.path="$CLASSES" Sampled 100 2
events attach.trace \
	"first samples weigh what the interval before gives them" 'sum(e.weight < 1 << 20 for e in at("alloc", "Sampled.atThreads")) > 50' \
	"estimated" 'total(at("alloc", "Sampled.atThreads"), "weight") < one("allocated") + 5 * math.sqrt(one("allocated") * (16 << 20))' \
	"nothing lost" 'lost == []'

# 64 MiB are 128 samples at 512 KiB and 4 at 16 MiB. Chance alone exceeds these bounds once in 10^6 runs.
SAMPLES=$(sed -n 's/^samples //p' attach.trace.truth)
[[ $SAMPLES -gt 72 && $SAMPLES -lt 190 ]] || fail "$SAMPLES samples of another agent, at an interval that is not the default"
