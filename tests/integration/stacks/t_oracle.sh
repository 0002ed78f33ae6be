#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Some thousand stacks, compared frame by frame with JVM TI's GetStackTrace at the same moments; see tests/oracle/.
# takes: 15 s
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../../oracle/lib.sh"

for what in "calls 4000" "trace 500" "prey 500"; do
	read -r name count <<<"$what"
	oracle_run "$name" "$JAVA_HOME" "$BUILD/oracle/java" "$name" "$count" >"$name.seen" || fail "$(head -n 100 "$name.seen")"
	compared=$(sed -n 's/^compared \([0-9]*\),.*/\1/p' "$name.seen")
	[[ $compared -ge $((count * 9 / 10)) ]] || fail "$name: only $compared stacks were compared"
done
