#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs of a third of a second, from exec to exit, of every installed JDK. Nothing is known in advance: their unwind
# tables are compiled and the JVMs' layouts are read while they run.
# takes: 12 s
source "$(dirname "$0")/../lib.sh"

jdks >homes # before the cache directory changes
export XDG_CACHE_HOME=$PWD/cache
mkdir cache
{
	echo '#!/bin/bash'
	sed 's|.*|"&/bin/java" -Xshare:auto -version|' homes homes
} >run.sh
chmod +x run.sh
JVMS=$(grep -c java run.sh)

braid record -q -F 1999 -o s.trace -- ./run.sh >out 2>&1 || fail "$(cat out)"
check s.trace "stacks are whole" 'at_least(i["samples"]["complete"], i["samples"]["total"], 99.9)' \
	"Java frames have names" 'at_least(i["frames"]["java_named"], i["frames"]["java"], 99.9)' \
	"every JVM has an agent" "len(i['jvms']) == $JVMS" "nothing is lost" 'i["lost"] == {}'
# For each process the last one: the agent's layout must equal the one read from outside before.
braid script --raw s.trace | awk '
	/^jvm / { match($0, /layout_flags=0x[0-9a-f]+/); last[$2] = substr($0, RSTART, RLENGTH) }
	END { for (j in last) print last[j] }' >flags
[[ $(grep -cx 'layout_flags=0x[0-9a-f]*[4567cdef][37bf]' flags) -eq $JVMS ]] || fail "layouts differ: $(sort flags | uniq -c)"

# Without agents a JVM is walked only by what is in its memory. It does not wait until that is found, so the missing
# part of its start depends on the machine; this program runs longer.
braid record -q --no-attach -F 997 -o n.trace -- "$JAVA" -cp "$CLASSES" Share 20 >out 2>&1 || fail "$(cat out)"
check n.trace "stacks are whole" 'at_least(i["samples"]["complete"], i["samples"]["total"], 90)' \
	"Java frames, too" 'mostly_whole(with_frame("Share.spin")) and all_named(with_frame("Share.spin"))'
