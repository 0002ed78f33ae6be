#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# malloccost: measures what malloc with its free costs in a loop of native code: without a recording, while native
# allocations are sampled but none of these is, and while one in 8192 is. Each in turn, ROUNDS (10) times.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

rounds=${ROUNDS:-10}
classes=$BUILD/java
program=("$JAVA" -Xmx64m -cp "$classes" "-Djava.library.path=$classes" Hammer pairs 30)
header malloccost
echo
echo "ns a malloc of 64 bytes with its free: the fastest of $rounds times 30 rounds of a million, and their median"
echo "native allocations          fastest     median"

# one FILE COMMAND...: adds the times of a run.
one()
{
	local to=$1

	shift
	"$@" 2>/dev/null >>"$TMP/$to"
}

for ((i = 0; i < rounds; i++)); do
	one none "${program[@]}"
	one rarely braid record -q -e malloc=1g -o "$TMP/trace" -- "${program[@]}"
	one sampled braid record -q -e malloc=512k -o "$TMP/trace" -- "${program[@]}"
done
for how in "none:not sampled" "rarely:malloc=1g" "sampled:malloc=512k"; do
	printf '%-24s %10s %10s\n' "${how#*:}" "$(sort -g "$TMP/${how%%:*}" | head -n 1 | xargs printf %.1f)" \
		"$(median <"$TMP/${how%%:*}" | xargs printf %.1f)"
done
