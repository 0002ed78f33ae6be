#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Block I/O: bytes, operations, device and time as the program and the kernel know them, with the stack that issued it, of a Java
# method, too; filters.
source "$(dirname "$0")/../lib.sh"
source "$TEST_DIR/events.sh"

cc -O2 -o kernel "$TEST_DIR/kernel.c"
# Between the files of the program and of others is a third one: their requests are not merged.
for file in data between foreign; do
	head -c 1310720 /dev/urandom >"$file"
	sync "$file"
done
device=$(readlink "/sys/dev/block/$(mountpoint -d "$(stat -c %m data)" 2>/dev/null)" || true)
[[ -n $device ]] || skip "the file system of the tests is on no block device"
dd if=data of=/dev/null iflag=direct bs=64k count=1 status=none || skip "this file system has no direct I/O"

# Others read and write meanwhile: the kernel issues what they have queued in any thread that comes by.
others()
{
	while :; do
		dd if=foreign of=/dev/null iflag=direct bs=4k status=none
		dd if=between of=foreign conv=notrunc oflag=direct bs=4k status=none
	done
}

# completed FILE EVENTS COMMAND...: records until the completion of each request was seen. Some kernels run no eBPF program in an
# interrupt of some process, for example of their container's first one. What is not seen is lost, which is counted.
completed()
{
	for _ in {1..8}; do
		rm -f data.java
		recorded "$@"
		! braid info "$1" | grep -qE '^ +bpf +block +[1-9]' || continue
		return 0
	done
}

others &
others=$!
# The file's extents are read before: their blocks are no part of it.
completed all.trace block ./kernel block "$PWD/data"
kill "$others"
wait "$others" || true
events all.trace \
	"reads" 'sum(e["value"] for e in at("block", "read_blocks") if e.detail == "read") == 20 * 65536' \
	"nobody else's" 'not [e.detail for e in at("block", "read_blocks") if e.detail != "read"]' \
	"writes" 'sum(e["value"] for e in at("block", "write_blocks") if e.detail == "write") >= 10 * 65536' \
	"their time" '0 < total(at("block", "read_blocks"), "duration_ns") and all(0 < e.duration_ns <= one("reads") for e in
		at("block", "read_blocks"))' \
	"a device" 'len({e.name for e in at("block", "read_blocks")}) == 1 and all(e.name and e.flags == 0 for e in of("block"))' \
	"nothing lost" 'lost == []'
check all.trace "a row for the device" 'r["events"]["block"]["by_name"][0]["moved_bytes"] >= 30 * 65536'
[[ $(stacks_of all.trace block | weigh 'main;read_blocks;.*pread.*;blk_.*') -gt 0 ]] || fail "the stacks have no kernel frames"
! stacks_of all.trace block | finds bpf_ || fail "the stacks have frames of the program that takes them"
check all.trace "the site is the program's" 'any(x["name"] == "read_blocks" for x in r["events"]["block"]["by_site"])'
disk=$(braid script --event block all.trace | sed -n 's/.* braid:block: device="\([^"]*\)".*/\1/p' | head -n 1)
[[ -e /sys/block/$disk ]] || fail "there is no device '$disk'"

completed some.trace 'block=0/op==write&&bytes>=4096/' ./kernel block "$PWD/data"
events some.trace "only writes" 'of("block") and all(e.detail == "write" and e["value"] >= 4096 for e in of("block"))'
recorded none.trace block=10s ./kernel block "$PWD/data"
events none.trace "none is so long" 'of("block") == []'

completed java.trace block "$JAVA" -cp "$CLASSES" Journal "$PWD/data.java" 400 1
events java.trace \
	"from Java" 'sum(e["value"] for e in at("block", "Journal.flush") if e.detail == "write") >= 400 * 1000' \
	"in one piece" 'all("Journal.main" in e.stack for e in at("block", "Journal.flush"))'
