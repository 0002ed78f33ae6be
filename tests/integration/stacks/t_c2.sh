#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# C2 only: shares of CPU time against the program's measures, and a deep recursion.
# takes: 8 s
source "$(dirname "$0")/../lib.sh"

# It waits for the compiler, which on a busy machine may get no CPU for a while. Until then it takes a tenth of the time.
shares_are_right -Xbatch -XX:-TieredCompilation
check share.trace \
	"how it ran" 'at_least(sum(n for s, n in stacks if any(f in ("Share.half_[j]", "Share.third_[j]", "Share.fifth_[j]", "Share.spin_[j]") for f in s)),
		total("Share.main"), 75)'
deep_is_whole -XX:-TieredCompilation
