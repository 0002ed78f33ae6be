#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Processes that are not there, or are none.
source "$(dirname "$0")/lib.sh"

sleep 0 &
dead=$!
wait "$dead"
need_sample
cp "$SAMPLE" old.trace
for pid in "$dead" "$$,$dead"; do
	status=0
	braid record -p "$pid" -o old.trace >out 2>err || status=$?
	[[ $status -eq 1 ]] || fail "-p $pid: exit status $status: $(cat err)"
	one_line_error out err
	grep -q "no process $dead" err || fail "-p $pid: $(cat err)"
	cmp -s old.trace "$SAMPLE" || fail "-p $pid: a recording that never began has cost an older trace"
done
braid record -p "$dead" -o new.trace 2>err && fail "a recording of nothing"
[[ ! -e new.trace ]] || fail "a recording that never began left a file"
for words in "-p 0" "-p -1" "-p abc" "-p 1,,x" "-F 0 -a" "-d x -a" "" "-a -p 1" "--no-such-option"; do
	status=0
	# shellcheck disable=SC2086 # words
	braid record $words >out 2>err || status=$?
	[[ $status -eq 2 ]] || fail "record $words: exit status $status: $(cat err)"
	[[ -s err && ! -s out ]] || fail "record $words: no message"
done
[[ $(cat /proc/2/comm 2>/dev/null) == kthreadd ]] || { echo "no kernel thread to try: in a container"; exit 0; }
status=0
braid record -p 2 -d 0.5 -o kernel.trace >out 2>err || status=$?
[[ $status -eq 0 || $status -eq 1 ]] || fail "a kernel thread: exit status $status: $(cat err)"
if [[ $status -eq 0 ]]; then
	check kernel.trace "the kernel thread" 'i["jvms"] == [] and notice("process 2 is not a JVM")'
else
	one_line_error out err
fi
