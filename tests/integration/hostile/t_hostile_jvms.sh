#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# JVMs of another user that misuse what an agent gets, all at once, and then those that make tables grow: another JVM's
# recording is as it is without them, and refusals are counted for the JVM that caused them.
# class: long
# takes: 90 s
# alone: JVMs that are starved flood nothing
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/hostile.sh"

growing=(methods tids crowd renames requests)
mapfile -t modes < <({ ./hostile --list jvm && ./hostile --list asked; } | grep -vxF "$(printf '%s\n' "${growing[@]}" mounts)")
export HOSTILE_LIBJVM HOSTILE_NAMES
HOSTILE_LIBJVM=$(find "$JAVA_HOME/" -path '*/server/libjvm.so')
HOSTILE_NAMES=$(nm -S "$HOSTILE_LIBJVM" 2>/dev/null | sed -n 's/^\([0-9a-f]*\) \([0-9a-f]*\) . _ZN12VM_Operation6_namesE$/\1:\2/p')
start_hostile "${modes[@]}"
start_honest -e cpu,thread,class,safepoint,jit,alloc,heap
wait_under_way "${modes[@]}"
finish_honest
events hostile.trace \
	"operations by no other JVM's names" "all(e.name != 'Lies' for e in of('safepoint') if e.process.pid == $JAVA_PID)" \
	"the ring that was ahead is the one that is damaged" "('ring', 'damaged', 1) in lost_by(${HOSTILE_PID[ahead]}) and
		all('damaged' not in row for pid in (${HOSTILE_PID[shared]}, ${HOSTILE_PID[notices]}) for row in lost_by(pid))" \
	"warnings that are left out" "any(kind == 'notices' for hop, kind, count in lost_by(${HOSTILE_PID[notices]}))"
! LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' record.err || fail "control characters in the messages"
[[ $(wc -l <record.err) -lt 500 ]] || fail "$(wc -l <record.err) lines of messages"

start_hostile "${growing[@]}"
start_honest -e cpu,thread,class,safepoint,jit,alloc
wait_under_way "${growing[@]}"
finish_honest
events hostile.trace \
	"requests that find no room are counted for their JVM" "('bpf', 'alloc') in {row[:2] for row in lost_by(${HOSTILE_PID[requests]})}"
