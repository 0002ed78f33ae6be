#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Agents that report more than any JVM has: each has its budget, the excess is refused and counted, and nobody is
# blocked.
# class: long
# takes: 20 s
source "$(dirname "$0")/../lib.sh"

MODES="codes names connections asks"

"${CC:-gcc}" -std=gnu11 -O1 -I"$LIB_DIR/../../include" -I"$LIB_DIR/.." "$TEST_DIR/flood.c" "$LIB_DIR/../hostile/client.c" -o flood -pthread
mkfifo go
exec 8<>go # keeps it open
start_record -F 199 -e cpu,alloc -o trace -- nice -n 19 bash -c "for mode in $MODES; do ./flood \$mode <go >\$mode.out 2>\$mode.err & done; while :; do :; done"
wait_for "the one that asks" says_or_gone asks.out asks "$RECORD_PID"
braid ctl "$RECORD_PID" status >answer # an answer means that the agent that has just connected is known to the kernel side
kill -STOP "$RECORD_PID"
touch stopped
wait_for "its requests" grep -qs ready asks.out
kill -CONT "$RECORD_PID"
wait_for "the limit of names" says_or_gone record.err ' names in its events, and ' "$RECORD_PID"
wait_for "the limit of connections" says_or_gone record.err ' connections of its agent, and ' "$RECORD_PID"
wait_for "the limit of codes" says_or_gone record.err ' pieces of code at a time' "$RECORD_PID"
peak_kb=$(sed -n 's/^VmHWM:\s*\([0-9]*\) kB/\1/p' "/proc/$RECORD_PID/status")
kill -INT "$RECORD_PID"
wait_end "$RECORD_PID" "the recording"
[[ $peak_kb -le 262144 ]] || fail "$peak_kb kB were resident"
check trace \
	"names" 'i["lost"]["budget"]["names"] >= 1' \
	"connections" 'i["lost"]["budget"]["connections"] >= 1' \
	"stacks that were asked for" 'i["lost"]["bpf"]["alloc"] >= 1' \
	"each is said of its process" 'notice("names in its events, and") and notice("connections of its agent, and")' \
	"the program beside them has samples" 'weight(stacks) > 20'
