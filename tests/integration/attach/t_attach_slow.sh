#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A JVM that loads its agent late after its start is not attached to meanwhile, and there is no notice about an agent
# that has connected.
source "$(dirname "$0")/../lib.sh"

mkfifo jvm.in
JAVA_TOOL_OPTIONS=-agentpath:$CLASSES/libhold.so=$PWD/go "$BUILD/braid" -v record -F 499 -o slow.trace -- \
	"$JAVA" -cp "$CLASSES" Worker <jvm.in >jvm.out 2>jvm.err &
RECORD_PID=$!
# shellcheck disable=SC2034 # a writer of the pipe
exec {opened}<>jvm.in
wait_for "the recorder to see the JVM" grep -q 'JVM in process .* still starting' jvm.err
touch go
open_worker jvm "$RECORD_PID"
burn jvm 300 "$RECORD_PID"
end_worker jvm "$RECORD_PID"
! grep 'cannot attach\|has no agent\|not loaded the agent' jvm.err || fail "see above"
check slow.trace \
	"the JVM" 'len(i["jvms"]) == 1 and not notice("attach") and not notice("agent")' \
	"names" 'mostly_whole(with_frame("Worker.spin")) and all_named(with_frame("Worker.spin"))'
