#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A process with more kernel events, or hits of a tracepoint, than can be recorded: each of them is recorded or lost, which is counted
# for this process; the events of another process are whole meanwhile. Connections that cannot be followed are counted, too.
# class: long
source "$(dirname "$0")/../lib.sh"
source "$TEST_DIR/events.sh"

cc -O2 -o kernel "$TEST_DIR/kernel.c"
cp kernel flood
mkdir d
DATA=$PWD/d/data

# flooded KIND COUNT EVENTS MODE: records a flood that the recorder, which is stopped, does not read, and on the same CPU what another
# program does in that mode.
flooded()
{
	local flood_in

	rm -f flood.in flood.out
	mkfifo flood.in
	"${ON_ONE_CPU[@]}" ./flood flood "$1" "$2" <flood.in >flood.out &
	FLOOD=$!
	exec {flood_in}>flood.in
	start_program "$1.trace.truth" "${ON_ONE_CPU[@]}" ./kernel "$4" "$DATA"
	wait_for "the flood" grep -q ready flood.out
	start_record -q -e "$3" -p "$FLOOD,$JAVA_PID" -o "$1.trace"
	wait_for "the recording" answers
	kill -STOP "$RECORD_PID"
	echo >&"$flood_in"
	wait_for "the flood" grep -q flooding flood.out
	end_program
	echo >&"$flood_in"
	exec {flood_in}>&-
	wait_end "$FLOOD" "the flood"
	kill -CONT "$RECORD_PID"
	end_record
	count=$(sed -n 's/^count //p' flood.out)
}

# each KIND PYTHON: events of the flood and losses add up; the other program's events are as the expression says.
each()
{
	events "$1.trace" \
		"each is an event or lost" "len([e for e in of('$1') if e.process.pid == $FLOOD]) +
			sum(n for p, hop, kind, n in losses if kind == '$1') == $count" \
		"some are lost" "any(kind == '$1' for p, hop, kind, n in losses)" \
		"of this process" "all(p and processes[p].pid == $FLOOD for p, hop, kind, n in losses)" \
		"the other one is whole" "$2"
}

flooded syscall 30000 'syscall=0/call==getppid||comm==kernel/' files
each syscall 'len(at("syscall", "write_records")) == 200 and len(at("syscall", "sync_records")) == 3'
flooded fault 30000 'fault=0/address>=0x100000000000&&address<0x100000064000||comm==kernel/' faults
each fault '[len([e for e in at("fault", "touch_anonymous") if e.detail == d]) for d in ("minor", "major")] ==
	[int(n) for n in truth["anonymous"][0]]'
flooded tcp 30000 tcp tcp
each tcp 'len([e for e in at("tcp", "connect_to") if [e.name] == truth["peer"][0] and e.detail == "connect"]) == 5'

# Other programs read meanwhile: the completion of a request interrupts any of them, and some kernels run no eBPF program then.
head -c 409600 /dev/urandom >flood.data
sync flood.data
if dd if=flood.data of=/dev/null iflag=direct bs=4k count=1 status=none; then
	flooded block 20000 'block=0/op==read&&bytes==4096/' files
	events block.trace "each is an event or lost" "len([e for e in at('block', 'flood_block') if e.process.pid == $FLOOD]) +
		sum(n for hop, kind, n in lost_by($FLOOD) if kind == 'block') == $count"
fi

mkdir hits
cd hits
cp ../kernel ../flood .
flooded syscall 100000 'syscalls:sys_enter_getppid,syscalls:sys_enter_write/comm==kernel/' files
check syscall.trace "each is a sample or lost" "i['lost']['bpf']['hit'] + r['hit_events'][0]['samples'] == r['hit_events'][0]['hits'] == $count" \
	"the other one is whole" 'any(e["samples"] >= 200 and e["samples"] == e["hits"] for e in r["hit_events"])' \
	"said" 'notice("is hit too often")'
events syscall.trace "of this process" "all(p and processes[p].pid == $FLOOD for p, hop, kind, n in losses)"
cd ..

# 16,384 sockets are followed: of each connection both ends.
ulimit -n "$(ulimit -Hn)"
[[ $(ulimit -n) -gt 17100 ]] || skip "a process has too few file descriptors"
recorded many.trace tcp ./kernel sockets 8500
events many.trace \
	"those with room" 'len(of("tcp", detail="connect")) == 8192' \
	"the others" 'sum(n for p, hop, kind, n in losses if kind == "tcp") == 2 * (8500 - 8192)' \
	"nothing else" 'len(of("tcp")) == 8192 and len(losses) == 1'
