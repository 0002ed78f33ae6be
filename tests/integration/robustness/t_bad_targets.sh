#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Pids of no process, and invalid ones.
# class: quick
source "$(dirname "$0")/../lib.sh"

refused()
{
	local status=0

	${PREFIX:-} "$BUILD/braid" record -d 0.1 -p "$1" -o old.trace >out 2>err || status=$?
	[[ $status -eq 1 ]] || fail "-p $1: exit status $status: $(cat err)"
	one_line_error out err
	grep -q "$2" err || fail "-p $1: $(cat err)"
	cmp -s old.trace "$SAMPLE" || fail "-p $1: a recording that never began has cost an older trace"
}

is_of()
{
	[[ $(stat -c %u "/proc/$1") -eq $2 ]]
}

need_sample
cp "$SAMPLE" old.trace
sleep 0 &
dead=$! # its number is soon another one's where numbers are few
wait "$dead"
for pid in "$dead" "$$,$dead"; do
	refused "$pid" "no process $dead"
done
braid record -p "$dead" -o new.trace 2>err && fail "a recording of nothing"
[[ ! -e new.trace ]] || fail "a recording that never began left a file"
for words in "-p 0" "-p -1" "-p abc" "-p 1,,x" "-F 0 -a" "-d x -a" "" "-a -p 1" "--no-such-option"; do
	status=0
	# shellcheck disable=SC2086 # words
	"$BUILD/braid" record $words >out 2>err || status=$?
	[[ $status -eq 2 ]] || fail "record $words: exit status $status: $(cat err)"
	[[ -s err && ! -s out ]] || fail "record $words: no message"
done
# A recording that fails after its programs were loaded.
"${CC:-gcc}" -std=gnu11 -O1 "$LIB_DIR/programs/seccomp.c" -o filtered
PREFIX="./filtered perf" refused $$ "cannot follow processes"
[[ ! -e old.trace.old ]] || fail "it has renamed the older trace"
start_worker jvm
java_tid=$(find "/proc/$JAVA_PID/task" -mindepth 1 -maxdepth 1 ! -name "$JAVA_PID" -printf '%f\n' | head -n 1)
refused "$java_tid" "$java_tid is a thread of process $JAVA_PID (java).*-p $JAVA_PID.*--tid $java_tid"
end_worker jvm "$JAVA_PID"
# Root without capabilities, and root with all of them, are not advised to become root.
setpriv --reuid=65534 --regid=65534 --clear-groups sleep 100 &
other=$!
wait_for "another user's process" is_of "$other" 65534
PREFIX="setpriv --inh-caps=-all --bounding-set=-all" refused "$other" "Permission denied; root lacks CAP_SYS_PTRACE"
kill "$other"
head -c 1 /proc/1/maps >/dev/null 2>&1 || refused 1 "Permission denied, even for root"
[[ $(cat /proc/2/comm 2>/dev/null) == kthreadd ]] || { echo "no kernel thread to try: in a container"; exit 0; }
status=0
braid record -p 2 -d 0.5 -o kernel.trace >out 2>err || status=$?
[[ $status -eq 0 || $status -eq 1 ]] || fail "a kernel thread: exit status $status: $(cat err)"
if [[ $status -eq 0 ]]; then
	check kernel.trace "the kernel thread" 'i["jvms"] == [] and notice("process 2 is not a JVM")'
else
	one_line_error out err
fi
