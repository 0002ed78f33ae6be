#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Who had a lock when a virtual thread parked for it is known: a platform thread, or a virtual one; also of a thread that is
# still parked when the recording ends. `explain` and `at` say it, and not that this one ended the wait.
# shellcheck disable=SC2016 # names of classes have dollar signs
# class: long
# takes: 8 s
source "$(dirname "$0")/../lib.sh"

LOCK='java.util.concurrent.locks.ReentrantLock$NonfairSync'

# number NAME: of the virtual thread.
number()
{
	awk -v name="$1" '$1 == name { print $2 }' truth
}

# says NAME END: what ended its park, as `explain` has it.
says()
{
	braid explain --thread "$(number "$1")" v.trace >explain.txt
	finds "%  parked ${LOCK/\$/\\\$} in VOwners.waits, until $2\$" <explain.txt || fail "$1: $(cat explain.txt)"
}

on()
{
	[[ -e VOwners.class ]] || "$1/bin/javac" --release 21 -d . "$TEST_DIR/java21/VOwners.java"
	braid record -q -e offcpu,lock -o v.trace -- "$1/bin/java" -cp . VOwners >truth 2>err || fail "$(cat err)"
	says for-main '\[not known\], held by main when it parked'
	says for-holder '\[not known\], held by holder when it parked'
	says stuck '\[not ended\], held by main when it parked'
	braid query --format csv v.trace "SELECT class, t.name, v.name, not_ended FROM lock LEFT JOIN threads t ON t.thread_id = owner_thread_id
		LEFT JOIN vthreads v ON v.vthread_id = owner_vthread_id WHERE lock.vthread_id ORDER BY time_ns" | tr -d '\r' | tail -n +2 >locks
	for row in "$LOCK,main,,0" "$LOCK,,holder,0" "$LOCK,main,,1"; do
		grep -qxF "$row" locks || fail "no LOCK $row: $(cat locks)"
	done
	# one that did not wait has no lock
	! braid script --event lock v.trace | finds "# virtual thread $(number free) " || fail "a free lock was waited for"
	braid query --format csv v.trace "SELECT (time_ns + 50e6) / 1e9 FROM lock WHERE not_ended" | tail -n 1 | tr -d '\r' >moment
	braid at --json v.trace "$(cat moment)" >at.json
	python3 - <<-'END'
		import json
		t = next(t for t in json.load(open("at.json"))["threads"] if t["name"] == "stuck")
		assert t["state"] == "parked" and t["owner_when_parked"] == "main" and not t["owner"], t
	END
	# without locks, too, an open wait has its object and its owner
	braid record -q -e offcpu -o w.trace -- "$1/bin/java" -cp . VOwners >truth 2>err || fail "$(cat err)"
	braid query --format csv w.trace "SELECT object, t.name FROM offcpu JOIN threads t ON t.thread_id = waker_thread_id
		WHERE vthread_id AND not_ended" | tr -d '\r' >open
	grep -qxF "$LOCK,main" open || fail "the open wait: $(cat open)"
}

on_each_version 21 on
