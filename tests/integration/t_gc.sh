#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# As many pauses as the JVM's own log has.
source "$(dirname "$0")/lib.sh"

for collector in Serial G1; do
	gc_log=(-Xlog:gc:gc.log) pauses=' Pause '
	if "$JAVA" -version 2>&1 | finds 'version "1\.8'; then
		gc_log=(-Xloggc:gc.log) pauses='\[\(Full \)\?GC '
	fi
	rm -f gc.log ./*.in
	PREFIX="$BUILD/braid record -F 99 -o $collector.trace --" \
		start_worker jvm "-XX:+Use${collector}GC" -Xmx64m -Xmn16m "${gc_log[@]}"
	wait_child "$JAVA_PID" java
	ask jvm gc 7
	end_worker jvm "$JAVA_PID"
	count=$(grep -c "$pauses" gc.log)
	[[ $count -ge 7 ]] || fail "the program did not do its part: $(cat gc.log)"
	check "$collector.trace" "$collector: $count pauses" "jvm($CHILD)['gc_pauses'] == $count and r['gc']['count'] == $count"
	[[ $(braid script "$collector.trace" | grep -c 'braid:gc_pause:') -eq $count ]] || fail "$collector: script has others"
done
