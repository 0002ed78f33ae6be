#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A stack at every hit of a kernel tracepoint, and an error for an unknown one.
source "$(dirname "$0")/../lib.sh"
source "$TEST_DIR/events.sh"

record -e syscalls:sys_enter_write -o w.trace -- dd if=/dev/zero of=/dev/null bs=1 count=500 status=none
check w.trace \
	"every write" 'weight(stacks) == 500 and whole(stacks) == 100 and i["lost"] == {}' \
	"their stacks" 'all_match(stacks, "(^|;)_?_?write;.*do_syscall_64;") == 100' \
	"what ticked" 'r["recording"]["record.event"] == "syscalls:sys_enter_write" and r["recording"]["record.period"] == "1"'
[[ $(braid script w.trace | grep -c ' syscalls:sys_enter_write: fd=1 buf=0x[0-9a-f]* count=1$') -eq 500 ]] || fail "script has no values"
check w.trace "its values" 'sum(v["samples"] for v in r["hit_events"][0]["values"]) == 500 and
	all(re.fullmatch("fd=1 buf=0x[0-9a-f]+ count=1", v["text"]) for v in r["hit_events"][0]["values"])'
record -e 'syscalls:sys_enter_openat/filename~"*/some"/{filename,flags,str(filename)},syscalls:sys_enter_write{}' -o open.trace -- \
	sh -c 'echo 1 >./some; echo 2 >>./some'
check open.trace "those that were named" '[sorted(v["text"].replace(chr(34), "") for v in e["values"]) for e in r["hit_events"] if
		"openat" in e["event"]] == [["filename=./some flags=1089 filename=./some", "filename=./some flags=577 filename=./some"]]' \
	"and none" '[e["values"] for e in r["hit_events"] if "write" in e["event"]] == [[]]'
braid script --event syscalls:sys_enter_write open.trace | finds ' syscalls:sys_enter_write{}:$' || fail "script does not say what ticked"

record -e syscalls:sys_enter_write -c 50 -o tenth.trace -- "${ON_ONE_CPU[@]}" dd if=/dev/zero of=/dev/null bs=1 count=500 status=none
check tenth.trace "one in fifty" 'weight(stacks) == 10'

record -e syscalls:sys_enter_write -o java.trace -- "$JAVA" -cp "$CLASSES" Share 5 >shares
check java.trace "from Java" 'whole(with_frame("Share.main")) == 100 and
	all_match(with_frame("Share.main"), ";Share.main;.*[.]FileOutputStream[.]writeBytes;.*;_?_?write;.*do_syscall_64;") == 100'

refused "-e nonsense:nothing" "'nonsense:nothing'.*/sys/kernel/tracing/events"
refused "-e syscalls:sys_enter_write{nothing}" "has no field 'nothing'; .* fd, buf, count"
refused "-e sched:sched_switch{str(prev_pid)}" "'prev_pid' is a number, not the address of text"
refused "-e a:b -F 99" "-F is for clocks" 2
refused "-c 5" "-c is for tracepoints and probes" 2
refused "-e a:b:c" "'a:b:c' is no event" 2
refused "-e ../a:b" "'../a:b' is no event" 2
refused "-e :b" "':b' is no event" 2
refused "-e syscalls:sys_enter_write -c 0" "-c: '0' is not a number" 2
