#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads of a JVM in a pid namespace: their outer tids are read once, however much the JVM reports about them.
# takes: 8 s
source "$(dirname "$0")/../lib.sh"

unshare -p -f --mount-proc true || skip "no namespaces"
"${CC:-gcc}" -std=gnu11 -O1 -I"$LIB_DIR/../../include" -I"$LIB_DIR/.." "$TEST_DIR/flood.c" "$LIB_DIR/../hostile/client.c" -o flood -pthread
mkfifo go
exec 8<>go # keeps it open
start_record -F 499 -o trace -- unshare -p -f --mount-proc bash -c "./flood numbers <go & wait"
wait_for "the threads" says_or_gone record.out ready "$RECORD_PID"
grep -q ready record.out || fail "no agent: $(cat record.out record.err)"
wait_samples 50
kill -INT "$RECORD_PID"
wait_end "$RECORD_PID" "the recording"
check trace \
	"its number outside is known" 'any(t["name"] == "known outside" and t["samples"] > 20 for t in r["threads"])' \
	"without reading each for each" 'i["overhead"]["collector_cpu_s"] < 8'
