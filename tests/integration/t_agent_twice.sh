#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The agent loaded twice on the command line.
source "$(dirname "$0")/lib.sh"

cat >run.sh <<-END
	#!/bin/sh
	exec "$JAVA" \$JAVA_TOOL_OPTIONS -agentpath:$BUILD/libbraid-agent.so -cp "$CLASSES" Worker
END
chmod +x run.sh
PREFIX="$BUILD/braid record -F 997 -o t.trace -- ./run.sh" start_worker jvm
wait_child "$JAVA_PID" java
wait_attached "$CHILD"
ask jvm burn 300
end_worker jvm "$JAVA_PID"
no_leftovers
check t.trace \
	"stacks" 'whole(with_frame("Worker.spin")) >= 99 and all_named(with_frame("Worker.spin")) and thread("old-0") > 100 and i["lost"] == {}' \
	"one JVM" 'len(i["jvms"]) == 1'
