#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# C1 only: shares of CPU time against the program's measures, and a deep recursion.
# takes: 8 s
source "$(dirname "$0")/../lib.sh"

shares_are_right -XX:TieredStopAtLevel=1
check share.trace \
	"how it ran" 'at_least(sum(n for s, n in stacks if any(f in ("Share.half_[1]", "Share.third_[1]", "Share.fifth_[1]", "Share.spin_[1]") for f in s)),
		total("Share.main"), 90)'
deep_is_whole -XX:TieredStopAtLevel=1
