#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# In a container's pid namespace, pids differ from those that BPF programs see: recording is refused, as doctor reports.
source "$(dirname "$0")/../lib.sh"

unshare -m -p -f --mount-proc true || skip "no namespaces"
need_sample
cp "$SAMPLE" old.trace
inside()
{
	unshare -m -p -f "${MOUNT_PROC---mount-proc}" "$BUILD/braid" "$@"
}

refuses()
{
	local status=0

	inside record -d 0.1 -o old.trace "$@" >out 2>err || status=$?
	[[ $status -eq 1 ]] || fail "record $*: exit status $status: $(cat err)"
	one_line_error out err
	grep -q "pid namespace.*run braid on the host.*--pid=host" err || fail "record $*: $(cat err)"
	cmp -s old.trace "$SAMPLE" || fail "record $*: a recording that never began has cost an older trace"
}

refuses -p 1 # the recorder itself in the namespace, and another process outside
refuses -a
refuses -- true
MOUNT_PROC=--kill-child refuses -p $$ # /proc is the host's
status=0
inside doctor >doctor.txt 2>err || status=$?
[[ $status -eq 1 ]] || fail "doctor: exit status $status: $(cat err)"
why=$(sed -n 's/^MISSING   pid namespace  *//p' doctor.txt)
[[ -n $why ]] || fail "doctor misses nothing: $(cat doctor.txt)"
refuses -p 1
grep -qF "$why" err || fail "doctor prints: $why; record prints: $(cat err)"
braid doctor | finds '^ok  *pid namespace' || fail "outside: $(braid doctor)"
