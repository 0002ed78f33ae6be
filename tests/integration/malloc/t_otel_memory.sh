#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# OpenTelemetry's USDT probes of a program that samples its allocations itself are native allocations with their weights, of
# which those remain that were not freed; or hits with address, size and weight. Without them, `malloc` says for a program
# that is no JVM that it needs them.
# takes: 5 s
source "$(dirname "$0")/../lib.sh"

cc -O2 -fno-toplevel-reorder -o program "$(dirname "$0")/otel_memory.c"
braid record -e "usdt:$PWD/program:otel_memory:alloc,usdt:$PWD/program:otel_memory:free" -o a.trace -- ./program 200 2>err
check a.trace "each allocation, with the bytes that it represents" '(lambda texts: len(texts) == 200 and all(t.split()[1:] == ["arg1=%d" % n, "arg2=%d" % (1000 * n)]
		for n, t in zip(range(64, 264), sorted(texts, key=lambda t: int(t.split()[1][5:])))))(
		[v["text"] for e in r["hit_events"] if e["event"].endswith(":alloc") for v in e["values"]])' \
	"and what is freed" 'sum(e["hits"] for e in r["hit_events"] if e["event"].endswith(":free")) == 150'

# allocated FILE ROUNDS [FROM]: all that it allocated in ROUNDS, and what it kept from round FROM (0) on.
allocated()
{
	: >"$1.truth"
	events "$1" \
		"all that was allocated" "sorted((e.value, e.weight) for e in of('malloc')) == sorted($2 * [(n, 1000 * n) for n in range(64, 264)])" \
		"each once" 'len({e.number for e in of("malloc")}) == len(of("malloc"))' \
		"with its stack and thread" 'all(e.stack[0] == "allocate" and e.thread.name == "program" for e in of("malloc"))' \
		"what was not freed" "sorted((e.value, e.weight) for e in {e.number: e for e in of('unfreed')}.values()) == sorted(($2 - ${3:-0}) * [(n, 1000 * n) for n in range(64, 264, 4)])" \
		"is some of it" '{e.number: e.value for e in of("unfreed")}.items() <= {e.number: e.value for e in of("malloc")}.items()' \
		"nothing lost" 'lost == []'
}

braid record -e "malloc:$PWD/program:otel_memory" -o b.trace -- ./program 200 2>err
! finds warning <err || fail "$(cat err)"
allocated b.trace 1

# made TIMES
made()
{
	[[ $(grep -c made out) -eq $1 ]] || gone_or_zombie "$JAVA_PID"
}

# Of a program that goes on: a reset forgets what was allocated before it, and what is not freed is reported when it is
# asked for, too. Stacks are whole, because it is known where its code is.
start_program out ./program 200 2
start_record -e "malloc:$PWD/program:otel_memory" -p "$JAVA_PID" -o c.trace
wait_for "the recorder" answers
go_on
wait_for "the allocations" made 1
braid ctl "$JAVA_PID" reset >/dev/null 2>err || fail "reset: $(cat err record.err)"
go_on
wait_for "more of them" made 2
braid ctl "$JAVA_PID" dump >/dev/null 2>err || fail "dump: $(cat err record.err)"
end_program
wait_end "$RECORD_PID" "the recording"
allocated c.trace 2 1
events c.trace "reported twice" 'sorted(Counter(e.number for e in of("unfreed")).values()) == 50 * [2]' \
	"whole stacks" 'all(e.stack[:3] == ["allocate", "make", "main"] for e in of("malloc"))'
braid export --event unfreed c.trace >stacks
finds 'main;make;allocate;alloc [0-9]*$' <stacks || fail "no stacks: $(cat stacks)"

sleep 1000 &
braid record -d 0.2 -e malloc -p $! -o none.trace 2>err
kill "$!"
grep -q "is not a JVM, and has no agent to sample its native allocations: .*malloc:PROGRAM:otel_memory" err || fail "no word about it: $(cat err)"
STATUS=0
braid record -d 0.2 -e malloc:/usr/bin/sleep:otel_memory -o none.trace -- sleep 0 2>err || STATUS=$?
[[ $STATUS -ne 0 ]] || fail "probes that are not there"
grep -q "no USDT probe 'otel_memory:alloc' in /usr/bin/sleep" err || fail "no such probes: $(cat err)"
