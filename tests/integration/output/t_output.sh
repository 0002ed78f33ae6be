#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Destinations that a recording must not write to.
# takes: 15 s
source "$(dirname "$0")/../lib.sh"

sleep 1000 &
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
# An older trace is renamed and kept.
cp t.trace first
start_record -p "$target" -o t.trace -d 0.3
end_record
check t.trace "the new trace" 'r["file"]["ended"] and i["duration_s"] < 30'
cmp first t.trace.old || fail "the former trace is not kept"
cp t.trace second
echo "my thesis" >t.trace.old
refused t.trace "t.trace: .*FILE.old"
cmp second t.trace || fail "it was overwritten"
[[ $(cat t.trace.old) == "my thesis" ]] || fail "t.trace.old was overwritten"
# Under sudo the trace belongs to the caller, if that user may create files there.
mkdir theirs
chown 65534 theirs
SUDO_UID=65534 SUDO_GID=65533 braid record -p "$target" -o theirs/s.trace -d 0.1 2>err
[[ $(stat -c '%u %g %a' theirs/s.trace) == "65534 65533 600" ]] || fail "owner: $(stat -c '%u %g %a' theirs/s.trace)"
[[ $(stat -c %a t.trace) == 600 ]] || fail "a trace is its owner's: $(stat -c %a t.trace)"
kill "$target"
