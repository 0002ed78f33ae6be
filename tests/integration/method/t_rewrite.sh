#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Rewritten classes pass the JVM's verifier, and are as before when they have been put back. `make test-rewrite` does the
# same with all classes of all JDKs.
# shellcheck source=tests/integration/lib.sh disable=SC1091
source "$(dirname "$0")/../lib.sh"

run()
{
	"$JAVA" -Xverify:all "-agentpath:$BUILD/rewrite/librewrite.so=$BUILD/agent/java" \
		-cp "$BUILD/rewrite/java" RewriteAll "$BUILD/rewrite/librewrite.so" "$@" >out 2>err ||
		fail "RewriteAll $*: $(tail -qn 5 err out)"
	[[ $(sed -n 's/.* rewritten with \([0-9]*\) methods and [0-9]* writes, 0 refused, 0 malformed, 0 bad/\1/p' out) -gt 2000 ]] ||
		fail "RewriteAll $*: $(cat out)"
}

run load 0 100
run retransform 0 200
