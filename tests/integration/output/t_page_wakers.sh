#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The page's flame graph of wakers has the chains, and the times, that `braid export --wakers` has; a person can choose it.
# class: long
# takes: 6 s
source "$(dirname "$0")/../lib.sh"

braid record -q --preset wall -F 499 -o w.trace -- "$JAVA" -cp "$CLASSES" WhatIf locked >truth 2>err || fail "$(cat err)"
braid report --html w.html w.trace
braid export --event offcpu --wakers --no-idle w.trace >chains.stacks
braid export --event offcpu --wakers w.trace >all.stacks
! cmp -s chains.stacks all.stacks || fail "no thread was idle"
node "$TEST_DIR/wakers.js" w.html chains.stacks
# A recording without times off the CPU has no such graph.
need_sample
braid report --html none.html "$SAMPLE"
node "$TEST_DIR/page.js" none.html '!data.graphs.some(g => g.chains)'
