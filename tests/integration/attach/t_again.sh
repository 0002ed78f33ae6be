#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Attach, detach by Ctrl-C, and attach again.
source "$(dirname "$0")/../lib.sh"

start_worker jvm
for n in 1 2 3; do
	start_record -F 997 -p "$JAVA_PID" -o "$n.trace"
	wait_attached "$JAVA_PID"
	burn jvm 200
	stop_record
	no_leftovers
	wait_for "the agent's sleep" no_ring "$JAVA_PID"
	check "$n.trace" \
		"recording $n" 'well() and alike("old-0", "old-1") and i["lost"] == {}' \
		"methods of recording $n" 'len(i["jvms"]) == 1 and with_frame("Worker.spin")'
	ask jvm burn 10
done
copies=$(grep -o '/[^ ]*libbraid-agent.so' "/proc/$JAVA_PID/maps" | sort -u | wc -l)
[[ $copies -eq 1 ]] || fail "every recording has left a copy of the agent: $copies"
end_worker jvm "$JAVA_PID"
