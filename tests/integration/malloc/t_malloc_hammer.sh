#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Eight threads allocate, move and free while libraries come and go and the events are switched on and off: no block is
# damaged, JNI has no complaint, and nothing is left behind. OPERATIONS: thousands of them; `make test-malloc` has 10^8.
# class: long
# takes: 10 s
source "$(dirname "$0")/../lib.sh"

start_program out "$JAVA" -Xcheck:jni -Xmx64m -cp "$CLASSES" "-Djava.library.path=$CLASSES" Hammer 8 "${OPERATIONS:-8000}" "$CLASSES/libloaded.so"
start_record -e cpu -p "$JAVA_PID" -o a.trace
wait_joined "$JAVA_PID"
go_on
turns=0
until { grep -q "^worked" out && [[ $turns -gt 2 ]]; } || gone_or_zombie "$JAVA_PID"; do
	for change in "enable malloc=16k" "interval malloc=1m" "disable malloc"; do
		# shellcheck disable=SC2086 # words
		braid ctl "$JAVA_PID" $change >ctl.out 2>&1 || fail "braid ctl $change: $(cat ctl.out)"
	done
	((++turns))
done
end_program
end_record
grep -qx 'damaged 0' out || fail "damaged blocks: $(cat out)"
[[ $(sed -n 's/^loaded //p' out) -gt 0 ]] || fail "no library was loaded: $(cat out)"
grep -v 'agent has been loaded\|serviceability tool\|Dynamic loading of agents' err | grep -E 'WARNING|FATAL|JNI|JVMTI' && fail "JNI complains"
events a.trace "events came while it was on" 'len(of("malloc")) > 100 and len(of("config")) > 4' \
	"whole blocks" 'all(e.weight >= e["value"] > 0 for e in of("malloc"))'
