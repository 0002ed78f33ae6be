#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A script starts the JVM: the agent comes with JAVA_TOOL_OPTIONS, beside what was in there already.
source "$(dirname "$0")/lib.sh"

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
ask jvm burn 300
end_worker jvm "$RECORD_PID"
check s.trace \
	"stacks" 'whole(with_frame("Worker.spin")) >= 99 and all_named(with_frame("Worker.spin"))' \
	"one JVM" 'len(i["jvms"]) == 1 and thread("old-0") > 100' \
	"the shell too" 'any(p["name"] in ("sh", "run.sh") for p in r["processes"]) or len(r["processes"]) >= 2'
