#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The JVM's own checks find nothing to say of the agent, whatever it is asked for.
source "$(dirname "$0")/lib.sh"

quiet()
{
	local options=$1

	shift
	# shellcheck disable=SC2086 # words
	braid record --preset all -o a.trace -- "$JAVA" -Xcheck:jni $options -cp "$CLASSES" "$@" >out 2>err
	! grep -nE 'WARNING|FATAL|JNI|JVMTI|[Ee]xception' out err | grep -v 'stopping an attempt' || fail "with $options $*"
	events a.trace "something was told" 'len(events) > 20'
}

quiet "" Monitors 5
quiet "-Xmx64m" Allocator 300 100
quiet "-Xint" ThreadEvents 50
[[ $(java_version) -lt 21 ]] || quiet "" Monitors 5 virtual
