#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The agent loaded twice on the command line.
source "$(dirname "$0")/../lib.sh"

cat >run.sh <<-END
	#!/bin/sh
	exec "$JAVA" \$JAVA_TOOL_OPTIONS -agentpath:$BUILD/libbraid-agent.so -cp "$CLASSES" Worker
END
chmod +x run.sh
PREFIX="$BUILD/braid record -F 997 -o t.trace -- ./run.sh" start_worker jvm
wait_child "$JAVA_PID" java
wait_attached "$CHILD"
burn jvm 300 "$JAVA_PID"
end_worker jvm "$JAVA_PID"
no_leftovers
check t.trace \
	"stacks" 'mostly_whole(with_frame("Worker.spin")) and all_named(with_frame("Worker.spin")) and alike("old-0", "old-1") and i["lost"] == {}' \
	"one JVM" 'len(i["jvms"]) == 1'
