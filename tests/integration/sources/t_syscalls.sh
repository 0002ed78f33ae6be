#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# System calls that take long: their number, time, file, bytes, result and stack, as the program knows them; those on files
# alone; filters by call, result and argument; Java methods in the stacks.
# class: long
source "$(dirname "$0")/../lib.sh"
source "$TEST_DIR/events.sh"

cc -O2 -o kernel "$TEST_DIR/kernel.c"
mkdir d # the kernel knows a file's path below the root of its file system
DATA=$PWD/d/data

recorded all.trace syscall=0 ./kernel files "$DATA"
events all.trace \
	"writes" '[len([e for e in of("syscall", detail="write") if "write_records" in e.stack and e["value"] == 3000])] == [200]' \
	"their file" 'all(e.name.endswith("d/data") for e in at("syscall", "write_records") + at("syscall", "sync_records"))' \
	"syncs" 'len(own("syscall", "sync_records")) == 3 and all(e.detail == "fdatasync" for e in at("syscall", "sync_records"))' \
	"their time" 'total(at("syscall", "write_records") + at("syscall", "sync_records"), "duration_ns") <= one("file")' \
	"sleeps, as long as the program asked for" 'len(at("syscall", "sleeps")) == 4 and
		all(e.duration_ns >= 20e6 and e.name == "[clock_nanosleep]" for e in at("syscall", "sleeps"))' \
	"the pipe" '[len([e for e in of("syscall", detail=c, name="pipe") if e["value"] == 10]) for c in ("read", "write")] == [10, 10]' \
	"a path that is none" 'len([e for e in of("syscall", name="/none/such") if e.flags == 2 and e.text.endswith(") = -2")]) == 7' \
	"arguments and result" 'all(e.text.startswith("(") and e.text.endswith(", 3000) = 3000") for e in at("syscall", "write_records"))' \
	"an open file" 'any(e.detail == "openat" and e.name.endswith("d/data") for e in of("syscall"))'
check all.trace "nothing lost" 'i["lost"] == {} and r["recording"]["record.events"] == "syscall=0"' \
	"no samples" 'weight(stacks) == 0 and r["hit_events"] == []'
[[ $(stacks_of all.trace syscall | weigh ';sleeps;.*;[[]clock_nanosleep]$') -ge 80000000 ]] || fail "the stacks have no time"
braid report --full all.trace | finds 'd/data$' || fail "the report has no table of files"
braid script --event syscall all.trace | finds ' braid:syscall: object=".*d/data" call="fdatasync" duration_ns=' ||
	fail "script has no line of it"

recorded files.trace file=0 ./kernel files "$DATA"
events files.trace \
	"only files" '[len([e for e in of("syscall", detail=c) if e.name.endswith("d/data")]) for c in ("write", "fdatasync", "pread64")] ==
		[200, 3, 5]' \
	"no pipe, no sleep" 'not [e for e in of("syscall") if e.name == "pipe" or e.detail in ("clock_nanosleep", "newfstatat")]'
check files.trace "bytes of the file" '[x["moved_bytes"] for x in r["events"]["syscall"]["by_name"] if x["name"].endswith("d/data")] ==
	[200 * 3000 + 500]'

# selected NUMBER EVENT: NUMBER calls of the program are selected.
selected()
{
	recorded some.trace "$2" ./kernel files "$DATA"
	events some.trace "$2" "len(of('syscall')) == $1"
}
selected 200 'syscall=0/call==write&&arg2==3000/'
selected 3 'file=0/call==fdatasync/'
selected 7 'syscall=0/ret==-2&&comm==kernel&&call!=access&&call!=openat/'
selected 4 'syscall=15ms/call==clock_nanosleep/'
selected 0 'syscall=10s'

recorded java.trace 'file=0/call==pwrite64||call==write||call==fdatasync/' "$JAVA" -cp "$CLASSES" Journal "$DATA" 400 6
events java.trace \
	"from Java" 'sum(e["value"] for e in of("syscall") if "Journal.append" in e.stack and e.name.endswith("d/data")) == 400 * 1000' \
	"all in one piece" 'all("Journal.main" in e.stack for e in of("syscall") if e.name.endswith("d/data"))' \
	"its syncs" 'len([e for e in at("syscall", "Journal.flush") if e.detail == "fdatasync"]) == 6'

# Too many calls: what the stacks may cost is limited, and each call is an event or lost.
record -e syscall=0/call==write/ -o hot.trace -- dd if=/dev/zero of=/dev/null bs=1 count=500000 status=none
check hot.trace "reported or lost" 'sum(i["lost"].get("bpf", {}).values()) + r["events"]["syscall"]["count"] == 500000' \
	"many of them" 'r["events"]["syscall"]["count"] > 5000'

refused "-e syscall=5" "the value is a time with its unit, such as syscall=1ms" 2
refused "-e syscall=1ms,file" "'syscall=1ms' and 'file' would record the same things" 2
refused "-e syscall/nope==1/" "'nope' is no field of 'syscall'; use comm, pid, tid, cpu, call, ret, arg0" 2
refused "-e syscall/call==nope/" "'call' is a number, and 'nope' is none" 2
refused "-c 5 -e syscall" "-c is for tracepoints and probes" 2
