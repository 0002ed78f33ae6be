#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Processes misuse the connections and rings that they were given: the recording of another one continues, and ends on
# request.
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/hostile.sh"

MODES="again shared ahead full"

for mode in $MODES; do
	ln -s hostile "$mode"
done
start_record -o trace -- bash -c "for mode in $MODES; do nice -n 19 ./\$mode >\$mode.out 2>\$mode.err & done; while :; do :; done"
for mode in $MODES; do
	wait_for "the mode $mode" says_or_gone "$mode.out" "under way" "$RECORD_PID"
	grep -qs "under way" "$mode.out" || fail "$mode: $(cat "$mode.err" record.err)"
done
wait_samples 20
kill -INT "$RECORD_PID"
wait_end "$RECORD_PID" "the recording"
[[ $STATUS -eq 143 ]] || fail "braid record ended with $STATUS, and not as its command did: $(cat record.err)"

[[ $(grep -c 'ring of process .* is damaged' record.err) -eq 1 ]] ||
	fail "not the ring of the one that was ahead is damaged: $(cat record.err)"
check trace \
	"what could not be read is counted" 'i["lost"]["ring"]["damaged"] == 1' \
	"the other program has its samples" 'weight(stacks) > 20'
