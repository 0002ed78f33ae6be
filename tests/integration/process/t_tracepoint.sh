#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A stack at every hit of a kernel tracepoint, and an error for an unknown one.
source "$(dirname "$0")/../lib.sh"

record()
{
	braid record "$@" 2>err || fail "$(cat err)"
}

[[ -d /sys/kernel/tracing/events/syscalls || -n $(sed -n '/tracefs/p' /proc/filesystems) ]] || skip "no tracefs in this kernel"

record -e syscalls:sys_enter_write -o w.trace -- dd if=/dev/zero of=/dev/null bs=1 count=500 status=none
check w.trace \
	"every write" 'weight(stacks) == 500 and whole(stacks) == 100 and i["lost"] == {}' \
	"their stacks" 'all_match(stacks, "(^|;)_?_?write;.*do_syscall_64;") == 100' \
	"what ticked" 'r["recording"]["record.event"] == "syscalls:sys_enter_write" and r["recording"]["record.period"] == "1"'
braid script w.trace | finds ' syscalls:sys_enter_write:$' || fail "script does not say what ticked"

record -e syscalls:sys_enter_write -c 50 -o tenth.trace -- taskset -c 0 dd if=/dev/zero of=/dev/null bs=1 count=500 status=none
check tenth.trace "one in fifty" 'weight(stacks) == 10'

record -e syscalls:sys_enter_write -o java.trace -- "$JAVA" -cp "$CLASSES" Share 5 >shares
check java.trace "from Java" 'whole(with_frame("Share.main")) == 100 and
	all_match(with_frame("Share.main"), ";Share.main;.*[.]FileOutputStream[.]writeBytes;.*;_?_?write;.*do_syscall_64;") == 100'

if braid record -e nonsense:nothing -o no.trace -- true >out 2>err; then
	fail "recorded a tracepoint that is not there"
fi
one_line_error out err
grep -q "'nonsense:nothing'.*/sys/kernel/tracing/events" err || fail "the message does not name the list of tracepoints: $(cat err)"
[[ ! -e no.trace ]] || fail "a recording that could not begin left a trace"
for wrong in "-e a:b -F 99" "-c 5" "-e a:b:c" "-e ../a:b" "-e :b" "-e syscalls:sys_enter_write -c 0"; do
	STATUS=0
	# shellcheck disable=SC2086 # a list of options
	braid record $wrong -o no.trace -- true 2>err || STATUS=$?
	[[ $STATUS -eq 2 ]] || fail "record $wrong: ended with $STATUS: $(cat err)"
done
