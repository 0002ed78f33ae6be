#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Many JVMs of one user that make tables grow, all at once: they share that user's budget. A JVM of another user, whose
# tables grow when theirs are full, loses nothing.
# class: long
# takes: 30 s
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/hostile.sh"

# The budget of all users grows with the machine's memory.
MEMORY_KB=$((MEMORY_KB + $(awk '/^MemTotal/ { part = $2 / 256 - 131072; print (part > 0 ? int(part) : 0) }' /proc/meminfo)))
modes=(methods.{1..8} names.{1..3} tids.{1..3})
HONEST_AS=(setpriv --reuid=65533 --regid=65533 --clear-groups)
start_hostile "${modes[@]}"
start_honest -e cpu,thread,class,jit
wait_under_way "${modes[@]}"
wait_for "their part to be full" says_or_gone record.err 'processes of user 65534 have used up their part of the recorder' "$RECORD_PID"
finish_honest
grep -q 'processes of user 65534 have used up their part' record.err || fail "they have never had their part: $(cat record.err)"
events hostile.trace "what is refused is counted for who asked" \
	"sum(('budget', 'jvm_bytes') in {row[:2] for row in lost_by(pid)} for pid in ($(printf '%s,' "${HOSTILE_PID[@]}"))) >= 1"
