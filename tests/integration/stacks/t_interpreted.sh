#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The interpreter: shares of CPU time against the program's measures, and a deep recursion.
# takes: 10 s
source "$(dirname "$0")/../lib.sh"

shares_are_right -Xint
check share.trace \
	"how it ran" 'at_least(sum(n for s, n in stacks if any(f in ("Share.half_[0]", "Share.third_[0]", "Share.fifth_[0]", "Share.spin_[0]") for f in s)),
		total("Share.main"), 90)'
deep_is_whole -Xint
