#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# OpenTelemetry's USDT probes of a program that samples its allocations itself are hits with address, size and weight; and
# for a program that is no JVM, `malloc` says so, and names them.
# takes: 3 s
source "$(dirname "$0")/../lib.sh"

cc -O2 -fno-toplevel-reorder -o program "$(dirname "$0")/otel_memory.c"
braid record -e "usdt:$PWD/program:otel_memory:alloc,usdt:$PWD/program:otel_memory:free" -o a.trace -- ./program 200 2>err
check a.trace "each allocation, with the bytes that it represents" '(lambda texts: len(texts) == 200 and all(t.split()[1:] == ["arg1=%d" % n, "arg2=%d" % (1000 * n)]
		for n, t in zip(range(64, 264), sorted(texts, key=lambda t: int(t.split()[1][5:])))))(
		[v["text"] for e in r["hit_events"] if e["event"].endswith(":alloc") for v in e["values"]])' \
	"and what is freed" 'sum(e["hits"] for e in r["hit_events"] if e["event"].endswith(":free")) == 150'

sleep 1000 &
braid record -d 0.2 -e malloc -p $! -o none.trace 2>err
kill "$!"
grep -q "is not a JVM, and has no agent to sample its native allocations: .*otel_memory:alloc" err || fail "no word about it: $(cat err)"
