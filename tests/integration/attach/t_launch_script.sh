#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A script starts the JVM: JAVA_TOOL_OPTIONS gets the agent and keeps its former content.
source "$(dirname "$0")/../lib.sh"

cat >run.sh <<-END
	#!/bin/sh
	"$JAVA" -cp "$CLASSES" Worker
END
chmod +x run.sh
mkfifo jvm.in
JAVA_TOOL_OPTIONS=-Dkept=yes "$BUILD/braid" record -F 997 -o s.trace -- ./run.sh <jvm.in >jvm.out 2>jvm.err &
RECORD_PID=$!
open_worker jvm
grep -qx 'ready yes' jvm.out || fail "JAVA_TOOL_OPTIONS was lost: $(cat jvm.out)"
burn jvm 300 "$RECORD_PID"
end_worker jvm "$RECORD_PID"
check s.trace \
	"stacks" 'mostly_whole(with_frame("Worker.spin")) and all_named(with_frame("Worker.spin"))' \
	"one JVM" 'len(i["jvms"]) == 1 and alike("old-0", "old-1")'
braid script --raw s.trace | finds '^process .*comm="run.sh"' || fail "the shell is not in the trace"
