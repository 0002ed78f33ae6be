#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The disk is full: one line reports it, and the part that was recorded can be read.
source "$(dirname "$0")/../lib.sh"

[[ -n ${INSIDE:-} ]] || INSIDE=1 exec unshare -m --propagation private bash "$0" || skip "no mount namespaces"
# Sixteen kilobytes: as many of the first samples as fit are in the file, and the message has their number.
mkdir tiny
mount -t tmpfs -o size=16k none tiny || skip "no tmpfs can be mounted"
status=0
braid record -F 997 -o tiny/t.trace -- "$JAVA" -cp "$CLASSES" Share 2000 >out 2>err || status=$?
[[ $status -eq 1 ]] || fail "exit status $status: $(cat err)"
kept=$(sed -n 's/^braid: tiny\/t.trace: No space left on device; .* its first .*KiB with \([0-9]*\) of [0-9]* samples can be read$/\1/p' err)
[[ $kept -ge 10 ]] || fail "what was kept: $(cat err)"
pid=$(sed -n 's/^braid: .* continues as process \([0-9]*\).*/\1/p' err)
{ [[ -n $pid ]] && kill "$pid"; } || fail "the program was ended: $(cat err)"
cp tiny/t.trace t.trace
check t.trace "what fitted" "i['samples']['total'] == $kept" \
	"nothing half" 'not r["file"]["truncated"] and r["file"]["no_index"]'
mkdir small
mount -t tmpfs -o size=1m none small || skip "no tmpfs can be mounted"
start_worker jvm
start_record -F 4999 -p "$JAVA_PID" -o small/f.trace
wait_attached "$JAVA_PID"
wait_events "$JAVA_PID"
before=$(stat -c %s small/f.trace)
tell jvm burn 60000
bigger_than()
{
	[[ $(stat -c %s "$1") -gt $2 ]]
}
wait_for "samples, and names that came later" bigger_than small/f.trace $((before + 32768))
head -c 2000000 /dev/zero >small/rest 2>/dev/null || true
wait_end "$RECORD_PID" "the recording"
[[ $STATUS -eq 1 ]] || fail "exit status $STATUS: $(cat record.err)"
sed -i '/^braid: warning: the JVM in process .* does not answer/d' record.err # on a busy machine
one_line_error record.out record.err
grep -q 'small/f.trace.*space' record.err || fail "not what happened: $(cat record.err)"
no_leftovers
cp small/f.trace f.trace
# Only the names that arrived a moment after the last samples may be missing.
check f.trace "what was recorded" 'well(80) and thread("old-0") > 0 and thread("old-1") > 0' \
	"whole stacks" 'at_least(i["java_samples"]["complete"], i["java_samples"]["total"], 99)'
wait_for "the agent's sleep" no_ring "$JAVA_PID"
# Reading commands also report when their output is truncated.
for command in "report --json" "report --html small/f.html" "script" "export --format collapsed -o small/f.txt" \
	"export --format sqlite -o small/f.sqlite"; do
	status=0
	# shellcheck disable=SC2086 # words
	braid $command f.trace >small/out 2>err || status=$?
	[[ $status -eq 1 && $(grep -vc '^braid: warning: f.trace' err) -eq 1 ]] || fail "$command: exit status $status: $(cat err)"
	[[ ! -e small/f.html && ! -e small/f.txt && ! -e small/f.sqlite ]] || fail "$command: left a file that is cut off"
done
