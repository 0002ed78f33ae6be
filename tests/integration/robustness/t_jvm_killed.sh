#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The JVM is killed while it is recorded.
source "$(dirname "$0")/../lib.sh"

start_worker jvm
start_record -F 997 -p "$JAVA_PID" -o a.trace
wait_attached "$JAVA_PID"
burn jvm 300
tell jvm burn 60000
kill -9 "$JAVA_PID"
end_record
no_leftovers
check a.trace \
	"stacks" 'well() and all_named(with_frame("Worker.spin")) and thread("old-0") > 0 and thread("old-1") > 0' \
	"a good end" 'r["file"]["ended"] and not r["file"]["truncated"]'
