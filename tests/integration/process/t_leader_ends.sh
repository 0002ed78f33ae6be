#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A process whose first thread has ended, during the recording or before it, is recorded as long as it has another one,
# also after that one's exec.
source "$(dirname "$0")/../lib.sh"

"${CC:-gcc}" -std=gnu11 -O1 "$TEST_DIR/leader.c" -o leader -pthread

# recorded NAME COMMAND...: records the program from its "ready" to its end.
recorded()
{
	local name=$1

	shift
	start_program out "$@"
	start_record -q -o "$name.trace" -p "$JAVA_PID"
	wait_sampling
}

recorded during bash -c 'echo ready; read -r; exec ./leader'
go_on
for name in during before; do
	[[ $name == during ]] || recorded before ./leader
	wait_samples 20
	! gone_or_zombie "$RECORD_PID" || fail "the recording has ended before its process: $(cat record.err)"
	go_on
	wait_for "'again' from the program" grep -qs again out # its first thread is a zombie
	wait_samples 20
	! gone_or_zombie "$RECORD_PID" || fail "the recording has ended before what its process executed: $(cat record.err)"
	end_program
	end_record
	check $name.trace \
		"the thread that went on has samples" 'weight(with_frame("burns_alone")) >= 15' \
		"and so has what it executed" 'weight(with_frame("main")) >= 15'
done

recorded killed ./leader
wait_samples 20
kill -KILL "$JAVA_PID"
end_record
