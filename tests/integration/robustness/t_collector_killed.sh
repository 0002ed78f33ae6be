#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# braid is killed: the trace can be read, the JVM lives and can be recorded again.
source "$(dirname "$0")/../lib.sh"

start_worker jvm
start_record -F 997 -p "$JAVA_PID" -o a.trace
wait_attached "$JAVA_PID"
burn jvm 300
written()
{
	braid report --json a.trace >report.json 2>/dev/null || return 1
	grep -q '"old-0"' report.json && grep -q '"old-1"' report.json
}
wait_for "blocks with both threads' samples" written
kill -9 "$RECORD_PID"
wait_end "$RECORD_PID" "the recording"
check a.trace \
	"what was recorded" 'well() and thread("old-0") > 0 and thread("old-1") > 0' \
	"how it ended" 'not r["file"]["ended"] and r["file"]["no_index"]'
braid replay a.trace | cmp - <(braid report --full a.trace)
wait_for "the agent's sleep" no_ring "$JAVA_PID"
ask jvm burn 10
# The killed recorder could not remove them.
rm -rf "${LAID_DOWN[@]}"
LAID_DOWN=()
start_record -F 997 -p "$JAVA_PID" -o b.trace
wait_attached "$JAVA_PID"
burn jvm 200
stop_record
no_leftovers
check b.trace "the second recording" 'well() and alike("old-0", "old-1") and r["file"]["ended"]'
end_worker jvm "$JAVA_PID"

# Samples that have been received are soon in the file, although no more come: they are there when it is killed.
awk 'BEGIN { for (;;) x += 1 }' &
target=$!
start_record -F 997 -p "$target" -o c.trace
wait_sampling
wait_samples 200
kill -STOP "$target"
received=$(samples)
[[ $received -ge 200 ]] || fail "no samples: $(cat record.err)"
in_file()
{
	braid script --raw c.trace 2>err | grep '^sample ' >sampled || true
	[[ $(wc -l <sampled) -ge $received ]]
}
wait_for "the samples in the file" in_file
kill -9 "$RECORD_PID"
wait_end "$RECORD_PID" "the recording"
kill -9 "$target"
in_file || fail "$(wc -l <sampled) of $received samples: $(cat err)"
