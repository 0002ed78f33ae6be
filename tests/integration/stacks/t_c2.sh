#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# C2 only: shares of CPU time against the program's measures, and a deep recursion.
# takes: 8 s
source "$(dirname "$0")/../lib.sh"

shares_are_right -XX:-TieredCompilation
check share.trace \
	"how it ran" 'at_least(sum(n for s, n in stacks if any(f in ("Share.half_[j]", "Share.third_[j]", "Share.fifth_[j]", "Share.spin_[j]") for f in s)),
		total("Share.main"), 90)'
deep_is_whole -XX:-TieredCompilation
