#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `ctl reset` forgets the native allocations and the JNI references that are watched: later reports have later ones only. That
# of objects is tested in t_live.sh.
# takes: 10 s
source "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/integration/jni/user.sh
source "$LIB_DIR/jni/user.sh"

# ---- JNI references ----
start_user -XX:+UseG1GC
start_record -q -e jni -o jni.trace -p "$JAVA_PID"
wait_events "$JAVA_PID"
say leak 300
braid ctl "$JAVA_PID" reset >/dev/null
braid ctl "$JAVA_PID" dump >/dev/null
wait_for "a report" reports jni.trace jni_refs 1
say leak 20
say free 50
say leak 10
stop_record
events jni.trace \
	"none of before" "len(of('jni_refs')) == 2 and [e for e in of('jni_ref') if e.time_ns < of('jni_refs')[0].time_ns] == []" \
	"those of after" "sum(e['value'] for e in of('jni_ref') if e.name == 'java.lang.String[]') == 10" \
	"thirty older ones were deleted" "[e.flags for e in of('jni_refs')] == [0, 30]" \
	"nothing lost" "lost == []"
end_user

# ---- native allocations: of two functions that free nothing ----
start_program malloc.trace.truth "$JAVA" -Xmx64m -cp "$CLASSES" "-Djava.library.path=$CLASSES" Leaks 8192 wait
start_record -e malloc=64k -p "$JAVA_PID" -o malloc.trace
wait_attached "$JAVA_PID"
wait_events "$JAVA_PID"
go_on
wait_says malloc.trace.truth end
braid ctl "$JAVA_PID" dump >/dev/null
wait_for "a report" reports malloc.trace unfreed 1
braid ctl "$JAVA_PID" reset >/dev/null
braid ctl "$JAVA_PID" dump >/dev/null
stop_record
events malloc.trace \
	"in one report of three" "(lambda mine, left: len(mine) > 100 and sorted(n for n in left if n in mine) == sorted(mine))(
		{e.number for f in ('leak_large', 'leak_middle') for e in at('malloc', f)}, [e.number for e in of('unfreed')])" \
	"nothing lost" "lost == []"
go_on
end_program
