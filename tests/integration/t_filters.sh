#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Selections of what was recorded.
source "$(dirname "$0")/lib.sh"

need_sample
cp "$SAMPLE" s.trace
check s.trace "the trace" 'i["samples"]["total"] > 0'
python3 "$LIB_DIR/filters.py" "$BUILD/braid" s.trace
for words in "--pid x" "--tid 1,," "--from x" "--to -1" "--include (" "--exclude [" "--top -1"; do
	status=0
	# shellcheck disable=SC2086 # words
	braid report $words s.trace >out 2>err || status=$?
	[[ $status -eq 2 && -s err && ! -s out ]] || fail "report $words: exit status $status"
done
