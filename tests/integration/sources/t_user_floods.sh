#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Many processes of one user, each with more kernel events than can be recorded: all of them together leave room for the
# events of another user's process.
source "$(dirname "$0")/../lib.sh"
source "$TEST_DIR/events.sh"

user()
{
	echo "setpriv --reuid=$1 --regid=$1 --clear-groups"
}

all_say()
{
	[[ $(cat flood.*.out | grep -c "$1") -eq ${#FLOODS[@]} ]]
}

tell_all()
{
	local fd

	for fd in "${INS[@]}"; do
		echo >&"$fd"
	done
}

cc -O2 -o kernel "$TEST_DIR/kernel.c"
cp kernel flood
chmod 755 .
mkdir d
chown 65533 d
FLOODS=() INS=()
for i in {1..8}; do
	mkfifo "flood.$i.in"
	$(user 65534) ./flood flood syscall 20000 <"flood.$i.in" >"flood.$i.out" &
	FLOODS+=($!)
	exec {fd}>"flood.$i.in"
	INS+=("$fd")
done
# shellcheck disable=SC2046 # words
start_program users.trace.truth $(user 65533) ./kernel files "$PWD/d/data"
wait_for "the floods" all_say ready
pids=$(IFS=, && echo "${FLOODS[*]}")
start_record -q -e 'syscall=0/call==getppid||comm==kernel/' -p "$pids,$JAVA_PID" -o users.trace
wait_for "the recording" answers
kill -STOP "$RECORD_PID"
tell_all
wait_for "the floods" all_say flooding
end_program
tell_all
for pid in "${FLOODS[@]}"; do
	wait_end "$pid" "a flood"
done
kill -CONT "$RECORD_PID"
end_record
events users.trace \
	"the other user's process is whole" 'len(at("syscall", "write_records")) == 200 and len(at("syscall", "sync_records")) == 3' \
	"what is lost is the floods'" "{processes[p].pid for p, hop, kind, n in losses} == {$pids} and {row[2] for row in losses} == {'syscall'}"
