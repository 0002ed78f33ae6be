#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# After a recording, no thread of braid runs in the JVM, and no descriptor remains. One JVM TI environment does, the first that
# the agent had: without any, HotSpot forgets to free what it knows of threads.
source "$(dirname "$0")/../lib.sh"

# The first of its JVM TI environments and what is in it, 0: none; empty where libjvm has no symbols. HotSpot frees disposed
# environments in a collection.
environments()
{
	python3 "$TEST_DIR/vm_static.py" "$JAVA_PID" _ZN12JvmtiEnvBase17_head_environmentE 32
}
# The first one is as it was, but for the pointer to the connection's, which is null now.
first_alone()
{
	ask jvm gc 1
	environments >alone
	[[ $(diff kept alone | grep '^>') == "> 0" ]]
}
descriptors()
{
	find "/proc/$JAVA_PID/fd" -type l -printf '%l\n' | sort
}
start_worker jvm
before=$(environments)
[[ ${before:-0} == 0 ]] || fail "it had an environment before"
descriptors >before
start_record -F 997 -p "$JAVA_PID" -o d.trace
wait_attached "$JAVA_PID"
descriptors >during
grep -q 'bpf-map' during || fail "the test does not see what it looks for: $(cat during)"
environments >kept
[[ -z $before || $(head -n 1 kept) != 0 ]] || fail "the test sees no environment while there is one"
ask jvm burn 100
stop_record
no_leftovers
wait_for "the agent's sleep" no_ring "$JAVA_PID"
threads_of_agent()
{
	grep -qsx 'braid.*' /proc/"$JAVA_PID"/task/*/comm
}
no_threads()
{
	! threads_of_agent
}
wait_for "the end of the agent's thread" no_threads
[[ -z $before ]] || wait_for "the end of the connection's environment" first_alone
descriptors >after
# The JVM keeps the socket of its attach listener.
listener=$(awk -v path=".java_pid$JAVA_PID" 'index($8, path) { print "socket:[" $7 "]" }' /proc/net/unix | sort -u)
left=$(comm -13 before after | grep -vxF "${listener:-none}" | grep -v '^/' || true)
[[ -z $left ]] || fail "descriptors left: $left"
! grep -q '\.braid-' after || fail "files left: $(grep '\.braid-' after)"
ask jvm burn 100
ask jvm threads 3
ask jvm gc 2
end_worker jvm "$JAVA_PID"
# JDK 21 and later warn about every agent that is loaded late.
! grep -v '^WARNING: ' jvm.err || fail "the agent prints to standard error"
