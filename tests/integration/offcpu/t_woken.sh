#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Who woke a thread is known however soon that was: a time off the CPU can be long because the thread then waits for a CPU.
source "$(dirname "$0")/../lib.sh"

"${CC:-gcc}" -std=gnu11 -O1 -g -fno-optimize-sibling-calls "$TEST_DIR/woken.c" -o woken -pthread
braid record -q -e offcpu=1ms -o woken.trace -- ./woken

# soon FUNCTION: its times off the CPU that are reported although it was blocked for less than the limit.
soon()
{
	echo "[e for e in at('offcpu', '$1') if 0 < e.duration_ns - e['value'] < 1e6]"
}

events woken.trace \
	"a thread" "all(len(some) > 9 and all(e.other and e.other.name == 'runs' and not e.other_stack or e.text == 'timer' for e in some)
		and any(e.other for e in some) for some in [$(soon reads)])" \
	"a timer" "all(len(some) > 9 and sum(e.text == 'timer' for e in some) > 0.9 * len(some) for some in [$(soon naps)])" \
	"nothing lost" "lost == []"
