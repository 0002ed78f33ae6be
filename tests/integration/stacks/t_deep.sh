#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recursion of 1,500 frames, compiled as the JVM likes; one of 12,000 interpreted frames, as programs in languages upon Java have.
source "$(dirname "$0")/../lib.sh"

deep_is_whole -XX:+TieredCompilation
# A stack of these takes milliseconds to walk: fewer of them.
DEPTH=12000 HZ=99 MS=1000 ROUNDS=5 deep_is_whole -Xint
braid report --html deep.html deep.trace
grep -q 'Deep.dive' deep.html || fail "no flame graph of a deep stack"
