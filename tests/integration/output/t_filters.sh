#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Selections of what was recorded.
source "$(dirname "$0")/../lib.sh"

need_sample
cp "$SAMPLE" s.trace
check s.trace "the trace" 'i["samples"]["total"] > 0'
python3 "$TEST_DIR/filters.py" "$BUILD/braid" s.trace
for words in "--pid x" "--tid 1,," "--from x" "--to -1" "--include (" "--exclude [" "--top -1"; do
	status=0
	# shellcheck disable=SC2086 # words
	braid report --full $words s.trace >out 2>err || status=$?
	[[ $status -eq 2 && -s err && ! -s out ]] || fail "report $words: exit status $status"
done
# A selection of something that is not in the trace is an error: an empty report would look like a thread that did
# nothing.
for words in "--pid 1" "--tid 1" "--from 2 --to 1" "--from 1 --to 1" "--from 1000m" "--to 1999-12-31T23:59" "--to 1999-12-31"; do
	status=0
	# shellcheck disable=SC2086 # words
	braid report --full $words s.trace >out 2>err || status=$?
	[[ $status -eq 1 ]] || fail "report $words: exit status $status"
	one_line_error out err
done
began=$(sed -n 's/^  began  *//p' <(braid report --full s.trace))
[[ $(date -d "${began%% +*}" +%s) -le $(date +%s) ]] || fail "it began at $began"
braid report --full --to 0.5 --include spin --tid "$(sed -n 's|^old-0 [0-9]*/\([0-9]*\) .*|\1|p' <(braid script s.trace) | head -n 1)" s.trace |
	finds '^  filter     tid [0-9]*; to 0.500000 s (.*); stacks with .spin.$' || fail "the report does not say what it leaves out"
