#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# All virtual threads that are blocked on a monitor at the same time are reported, however many.
# shellcheck disable=SC2016 # names of classes have dollar signs
# shellcheck source=tests/integration/lib.sh
source "$(dirname "$0")/../lib.sh"

need_jdk 24
"$JDK/bin/javac" -d . "$TEST_DIR/java21/VMonitors.java"

braid record -e lock -o many.trace -- "$JDK/bin/java" -cp . VMonitors 9000 >many.trace.truth 2>err
events many.trace \
	"each of them" 'all(len(of("lock", name=c)) == int(n) for c, n in truth["blocked"]) and len(truth["blocked"]) == 1' \
	"where" 'most(any("VMonitors" in f for f in e.stack) for e in of("lock"))' \
	"nothing lost" 'lost == []'
