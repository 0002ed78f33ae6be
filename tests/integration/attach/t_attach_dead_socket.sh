#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A JVM whose attach socket exists but has no listener any more is attached to all the same.
source "$(dirname "$0")/../lib.sh"

dead_socket()
{
	rm -f "/tmp/.java_pid$1"
	python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "/tmp/.java_pid$1"
}

start_worker jvm
for round in first again; do
	dead_socket "$JAVA_PID"
	braid list | finds "^ *$JAVA_PID .* yes" || fail "$round: the list: $(braid list)"
	start_record -F 997 -p "$JAVA_PID" -o "$round.trace"
	wait_joined "$JAVA_PID"
	burn jvm 300
	stop_record
	! grep 'attach\|agent' record.err || fail "$round: see above"
	check "$round.trace" "stacks of the $round recording" \
		'mostly_whole(with_frame("Worker.spin")) and all_named(with_frame("Worker.spin"))'
done
end_worker jvm "$JAVA_PID"
! grep -q 'Full thread dump' jvm.out || fail "the JVM was made to dump its threads"

# Another user's socket may not be removed, which is reported at once.
start_worker other
dead_socket "$JAVA_PID"
chown 65534 "/tmp/.java_pid$JAVA_PID"
start_record -F 997 -p "$JAVA_PID" -o other.trace
wait_for "a word about it" grep -q "/tmp/.java_pid$JAVA_PID belongs to user 65534: remove it" record.err
stop_record
rm "/tmp/.java_pid$JAVA_PID"
end_worker other "$JAVA_PID"
