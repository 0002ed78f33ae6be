#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recursion of 1,500 frames, compiled as the JVM decides; one of 12,000 interpreted frames, as in languages on top of
# Java.
source "$(dirname "$0")/../lib.sh"

deep_is_whole -XX:+TieredCompilation
# Such a stack takes milliseconds to walk, so there are fewer samples.
DEPTH=12000 HZ=99 MS=1000 ROUNDS=5 deep_is_whole -Xint
braid report --html deep.html deep.trace
# A label is written without what it shares with the one before.
grep -q 'dive"' deep.html || fail "no flame graph of a deep stack"
