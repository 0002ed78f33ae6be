#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What processes do with the connections and rings that they were given: the recording of another one goes on, and ends when it
# is asked to.
source "$(dirname "$0")/../lib.sh"

MODES="again shared ahead full"

"${CC:-gcc}" -std=gnu11 -O1 -I"$LIB_DIR/../../include" "$TEST_DIR/agent.c" -o agent -pthread
mkfifo go
start_record -o trace -- bash -c "for mode in $MODES; do ./agent \$mode <go >\$mode.out 2>\$mode.err & done; while :; do :; done"
exec {GO}>go
for mode in $MODES; do
	wait_for "the agent '$mode'" says_or_gone "$mode.out" ready "$RECORD_PID"
	grep -qs ready "$mode.out" || fail "$mode: $(cat "$mode.err" record.err)"
done
wait_samples 20
kill -INT "$RECORD_PID"
wait_end "$RECORD_PID" "the recording"
[[ $STATUS -eq 143 ]] || fail "braid record ended with $STATUS, and not as its command did: $(cat record.err)"
exec {GO}>&-

[[ $(grep -c 'ring of process .* is damaged' record.err) -eq 1 ]] ||
	fail "not the ring of the one that was ahead is damaged: $(cat record.err)"
check trace \
	"what could not be read is counted" 'i["lost"]["ring"]["damaged"] == 1' \
	"the other program has its samples" 'weight(stacks) > 20'
