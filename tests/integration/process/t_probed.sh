#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that spends its time at probes (uprobes) of others: at a function's first instruction, where a pc that is
# off by the breakpoint's length has another frame, and at one that the kernel single-steps in a copy. Each sample has
# its whole stack.
source "$(dirname "$0")/../lib.sh"

TRACING=/sys/kernel/tracing
[[ -w $TRACING/uprobe_events ]] || skip "no tracefs at $TRACING"
GROUP=braid_test_$$

cc -O1 -o probed "$TEST_DIR/probed.c"
clean()
{
	echo 0 >"$TRACING/events/$GROUP/enable" || true
	echo "-:$GROUP/pushes" >>"$TRACING/uprobe_events" || true
	echo "-:$GROUP/steps" >>"$TRACING/uprobe_events" || true
}
trap clean EXIT
for name in pushes steps; do
	at=$(nm probed | sed -n "s/ T $name\$//p")
	echo "p:$GROUP/$name $PWD/probed:0x$at" >>"$TRACING/uprobe_events"
done
# The filter keeps the kernel's ring buffers, which nobody reads, empty.
echo 'common_pid == 0' >"$TRACING/events/$GROUP/pushes/filter"
echo 'common_pid == 0' >"$TRACING/events/$GROUP/steps/filter"
echo 1 >"$TRACING/events/$GROUP/enable"

braid record -q -F 4999 -o probed.trace -- ./probed 100000 2>err || fail "$(cat err)"
braid export --format collapsed -o stacks probed.trace
check probed.trace "enough samples" 'i["samples"]["total"] > 500' \
	"stacks are whole" 'at_least(i["samples"]["complete"], i["samples"]["total"], 99.9)'
for name in pushes steps; do
	grep -q "main;calls;$name" stacks || fail "no sample in $name: $(cut -c 1-200 stacks | head)"
	! grep ";$name" stacks | grep -v "main;calls;$name" || fail "$name was called by another"
done
if grep '\[uprobes\]' stacks; then
	fail "a copy of an instruction has a frame"
fi
