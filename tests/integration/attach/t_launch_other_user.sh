#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A command that root starts runs a JVM as another user, who inherits the option: the JVM starts, and gets the agent a little later.
source "$(dirname "$0")/../lib.sh"

chmod 755 .
mkdir classes # those of the build may lie where nobody else gets
cp "$CLASSES"/Worker*.class classes/
chmod -R a+rX classes
mkfifo jvm.in
"$BUILD/braid" record -F 997 -o s.trace -- setpriv --reuid 65534 --regid 65534 --clear-groups "$JAVA" -cp "$PWD/classes" Worker \
	<jvm.in >jvm.out 2>jvm.err &
RECORD_PID=$!
open_worker jvm
wait_child "$RECORD_PID" java
attached()
{
	braid ctl "$CHILD" status 2>err | finds "^  JVM $CHILD .*, connected: "
}
wait_for "the agent" attached
burn jvm 100 "$RECORD_PID"
end_worker jvm "$RECORD_PID"
check s.trace "stacks" 'mostly_whole(with_frame("Worker.spin")) and all_named(with_frame("Worker.spin"))' \
	"one JVM" 'len(i["jvms"]) == 1'
dir=$(sed -n 's|^Picked up JAVA_TOOL_OPTIONS:.*-agentpath:\(.*\)/libbraid-agent.so=.*|\1|p' jvm.err)
[[ -n $dir && ! -e $dir ]] || fail "left behind: '$dir'"
