#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A process changes the tables of the libjvm.so in its memory: recordings of other JVMs with the same file use their own
# tables.
source "$(dirname "$0")/../lib.sh"

[[ $(java_version) -ge 13 ]] || skip "this JVM has no table of its operations' names"
start_worker liar
liar=$JAVA_PID
python3 "$LIB_DIR/programs/alter_libjvm.py" "$liar" || skip "this JVM has no symbols"
start_worker honest "-Xlog:safepoint:safepoint.log"
honest=$JAVA_PID
mkfifo storm.in
# It waits for each compilation, so that there are as many on a busy machine.
"$JAVA" -Xbatch -Xmx64m "-Xlog:jit+compilation=debug:compilation.log" -cp "$CLASSES" Storm 12 wait <storm.in >storm.out 2>&1 &
storm=$!
exec {STORM}>storm.in
start_record -e safepoint,jit -o trace -p "$liar" -p "$honest" -p "$storm"
wait_joined "$liar"
wait_joined "$honest"
wait_joined "$storm"
echo >&"$STORM"
ask liar gc 3
ask honest gc 3
wait_end "$storm" "the storm"
stop_record
end_worker honest "$honest"
end_worker liar "$liar"
sed -n 's/.*Safepoint "\([^"]*\)".*/operation \1/p' safepoint.log >trace.truth
sed -n 's/.*\[jit,compilation\] *\([0-9]\+\) .*/compile \1/p' compilation.log >>trace.truth
events trace "its operations have their names" "len([e for e in of('safepoint') if e.process.pid == $honest]) >= 3 and
		{e.name for e in of('safepoint') if e.process.pid == $honest} <= {name for name, in truth['operation']}" \
	"compilations their numbers, and took time" "len([e for e in of('compile') if e.process.pid == $storm and e.duration_ns]) >= 20 and
		{e.number for e in of('compile') if e.process.pid == $storm and e.duration_ns} <= {int(n) for n, in truth['compile']}" \
	"the other JVM has the names that it was given" "len({e.name for e in of('safepoint') if e.process.pid == $liar}) == 1"
