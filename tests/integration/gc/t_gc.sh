#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Pauses, cycles and phases are those of the JVM's own log: the same number, kinds, causes and heap sizes.
# takes: 15 s
source "$(dirname "$0")/../lib.sh"

# has COLLECTOR JAVA-OPTION...: whether this JVM has the collector under this name
has()
{
	local collector=$1 said

	shift
	said=$("$JAVA" -XX:+UnlockExperimentalVMOptions "-XX:+Use${collector}GC" "$@" -version 2>&1) || return 1
	! finds '[Ii]gnoring' <<<"$said"
}

# record COLLECTOR JAVA-OPTION...: records Garbage with it into COLLECTOR.trace.
record()
{
	local collector=$1

	shift
	rm -f gc.log "$collector".trace*
	braid record -F 99 -e cpu,gc -o "$collector.trace" -- "$JAVA" -XX:+UnlockExperimentalVMOptions \
		"-XX:+Use${collector}GC" -Xmx64m "$@" -cp "$CLASSES" Garbage 400 2>record.err || fail "$(cat record.err)"
}

if "$JAVA" -version 2>&1 | finds 'version "1\.8'; then
	# Their logs differ: Serial's shows two collections in one stop as one, and G1's cleanup is no event.
	for collector in Parallel ConcMarkSweep; do
		record "$collector" -Xloggc:gc.log
		count=$(grep -Eo '\[(Full )?GC( |\()[^c]' gc.log | wc -l)
		check "$collector.trace" "$collector: $count pauses" "r['gc']['count'] == $count"
	done
	check Parallel.trace "causes" "{p['cause'] for p in r['gc']['longest']} >= {'System.gc()', 'Allocation Failure'}" \
		"heap" "all(p['used_before'] or p['used_after'] for p in r['gc']['longest'])" \
		"a notice reports what is missing" "any('GC cycles' in n['text'] for n in r['notices']) or r['gc']['pauses'][0]['what'] != ''"
	exit 0
fi

# compare COLLECTOR JAVA-OPTION...
compare()
{
	local collector=$1

	has "$@" || return 0
	record "$@" "-Xlog:gc*:gc.log:tags"
	check "$collector.trace" "$*: there were pauses" "r['gc']['count'] > 3" "nothing lost" "i['lost'] == {}"
	python3 "$TEST_DIR/gc.py" "$collector.trace" gc.log "$collector" 2 || fail "$*: the events differ from the log"
}

compare Serial
compare Parallel
compare G1
# The first ones precede the live phase.
compare G1 -Xshare:off -XX:MetaspaceSize=3m -Xcheck:jni
compare Z
compare Z -XX:+ZGenerational
compare Shenandoah
compare Shenandoah -XX:ShenandoahGCMode=generational
