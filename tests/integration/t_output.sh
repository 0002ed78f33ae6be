#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Where a recording may not be written to.
source "$(dirname "$0")/lib.sh"

awk 'BEGIN { for (;;) x += 1 }' &
target=$!
# refused FILE WORD
refused()
{
	local status=0

	braid record -p "$target" -d 5 -o "$1" >out 2>err || status=$?
	[[ $status -eq 1 ]] || fail "-o $1: exit status $status: $(cat err)"
	one_line_error out err
	grep -q "$2" err || fail "-o $1: $(cat err)"
}
echo "my thesis" >thesis
refused thesis "not a braid trace"
[[ $(cat thesis) == "my thesis" ]] || fail "it was overwritten"
mkdir directory
refused directory directory
refused no/such/place "No such file"
start_record -p "$target" -o t.trace
wait_sampling
refused t.trace t.trace
stop_record
braid info t.trace >out
# An older trace gives way.
start_record -p "$target" -o t.trace -d 0.3
end_record
check t.trace "the new trace" 'r["file"]["ended"] and i["duration_s"] < 30'
[[ $(stat -c %a t.trace) == 600 ]] || fail "a trace is its owner's: $(stat -c %a t.trace)"
kill "$target"
