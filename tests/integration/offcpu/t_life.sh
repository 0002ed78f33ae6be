#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The times of each thread on and off the CPU are its whole life: of a JVM that is started, or recorded later, of its
# short threads, and of a thousand short processes.
source "$(dirname "$0")/../lib.sh"
# shellcheck source=whole.sh
source "$TEST_DIR/whole.sh"

braid record -q -e offcpu=10us,thread -o start.trace -- "$JAVA" -cp "$CLASSES" Lives <<<$'\n\n' >out
whole start.trace "short threads" "len({t.thread.tid for t in of('thread_time')}) >= 300"

attach_midway -F 99 -e cpu,offcpu,thread -- "$JAVA" -cp "$CLASSES" Lives
whole attach.trace \
	"one slept all the time" "[e.flags >> 16 & 6 for e in of('offcpu') if e.thread.name == 'sleeper'] == [6] and
		all(t.weight == t['value'] == 0 for t in of('thread_time') if t.thread.name == 'sleeper')" \
	"all began and ended with the recording" "len({(t.time_ns, t.duration_ns) for t in of('thread_time') if t.thread.name in
		('sleeper', 'main', 'VM Thread', 'Reference Handler', 'Finalizer')}) == 1"

cat >short.sh <<'END'
for ((i = 0; i < 1000; i++)); do
	/bin/true
done
END
braid record -q -e offcpu=10us -o short.trace -- bash short.sh
whole short.trace "all processes" "len([t for t in of('thread_time') if t.process.comm == 'true']) == 1000"
