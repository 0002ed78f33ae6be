#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The JVM's own JNI checks report nothing about the agent, whatever is enabled.
# class: long
# takes: 20 s
source "$(dirname "$0")/../lib.sh"

# The JVM's complaints, without braid's own messages.
complaints()
{
	grep -hE 'WARNING|FATAL|JNI|JVMTI|[Ee]xception' out err | grep -v '^braid: ' >"$1" || true
}

quiet()
{
	"$JAVA" -Xcheck:jni -cp "$CLASSES" "$@" >out 2>err
	complaints without
	braid record --preset all -o a.trace -- "$JAVA" -Xcheck:jni -cp "$CLASSES" "$@" >out 2>err
	complaints with
	diff without with || fail "with $*"
	events a.trace "events were reported" 'len(events) > 20'
}

quiet Monitors 5
quiet Allocator 300 100
quiet ThreadEvents 50
[[ $(java_version) -lt 21 ]] || quiet Monitors 5 virtual

# worked NAME: the JVM's complaints while a Worker works, recorded or not.
worked()
{
	start_worker "$1" -Xcheck:jni
	if [[ $1 == with ]]; then
		start_record -e all -p "$JAVA_PID" -o late.trace
		wait_joined "$JAVA_PID"
		wait_samples 1
	fi
	ask "$1" threads 100
	ask "$1" gc 2
	[[ $1 != with ]] || stop_record
	end_worker "$1" "$JAVA_PID"
	cp "$1.out" out
	grep -v 'agent has been loaded\|serviceability tool\|Dynamic loading of agents' "$1.err" >err || true
	complaints "$1.late"
}
worked without
worked with
diff without.late with.late || fail "with an agent that comes later"
