#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The JVM's own checks find nothing to say of the agent, whatever it is asked for.
source "$(dirname "$0")/lib.sh"

# What the JVM complains of.
complaints()
{
	grep -hE 'WARNING|FATAL|JNI|JVMTI|[Ee]xception' out err >"$1" || true
}

quiet()
{
	"$JAVA" -Xcheck:jni -cp "$CLASSES" "$@" >out 2>err
	complaints without
	braid record --preset all -o a.trace -- "$JAVA" -Xcheck:jni -cp "$CLASSES" "$@" >out 2>err
	complaints with
	diff without with || fail "with $*"
	events a.trace "something was told" 'len(events) > 20'
}

quiet Monitors 5
quiet Allocator 300 100
quiet ThreadEvents 50
[[ $(java_version) -lt 21 ]] || quiet Monitors 5 virtual
