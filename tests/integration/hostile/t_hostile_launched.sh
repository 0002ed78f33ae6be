#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Children of a recorded command misuse the connection for its JVMs: another JVM among the children is recorded as it is
# without them.
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/hostile.sh"

mapfile -t modes < <(./hostile --list launched)
for mode in "${modes[@]}"; do
	ln -s hostile "$mode"
	braid record -F 199 -e cpu,thread -o hostile.trace -- bash -c "coproc ./$mode 2>$mode.err; until [[ \$line == under* ]]; do
		read -r line <&\${COPROC[0]} || exit 1; done; '$JAVA' -cp '$CLASSES' ThreadEvents 300; kill \$COPROC_PID" \
		>hostile.trace.truth 2>record.err || fail "$mode: exit status $?: $(cat record.err "$mode.err")"
	honest_is_whole
done
