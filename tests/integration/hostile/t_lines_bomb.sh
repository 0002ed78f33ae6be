#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An untrusted library whose debug information unpacks to 3 GiB: its lines are omitted, with a notice, and everything
# else is recorded.
source "$(dirname "$0")/../lib.sh"

gcc -O1 -g -shared -fPIC -DLIBRARY -DFUNCTION=honest_work -o libwork.so "$LIB_DIR/programs/work.c"
gcc -O1 -g -DFUNCTION=honest_work -o work "$LIB_DIR/programs/work.c" "$PWD/libwork.so"
python3 "$TEST_DIR/bomb.py" libwork.so || skip "no such file can be made here"
chown 65534:65534 libwork.so
start_program out ./work
# The peak memory includes that of the largest child.
python3 - "$BUILD/braid" record --lines -F 997 -o trace -p "$JAVA_PID" >record.out 2>record.err <<-'END' &
	import os, resource, signal, sys
	signal.signal(signal.SIGINT, signal.SIG_IGN)
	pid = os.spawnv(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
	open("recorder", "w").write(str(pid))
	status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
	open("memory", "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
	sys.exit(status)
END
waiter=$!
wait_for "the recorder" test -s recorder
RECORD_PID=$(cat recorder)
wait_samples 100
kill -INT "$RECORD_PID"
wait_end "$waiter" "the recording"
[[ $STATUS -eq 0 ]] || fail "braid record ended with $STATUS: $(cat record.err)"
end_program
[[ $(grep -c 'libwork.so needs more time or memory' record.err) -eq 1 ]] || fail "no word of it: $(cat record.err)"
[[ $(cat memory) -lt 1000000 ]] || fail "that took $(cat memory) KiB"
check trace "stacks and names" 'mostly_whole(with_frame("honest_work"))' "it is counted" 'i["lost"]["collector"] == {"lines": 1}'
braid script --lines trace >lines
grep -q 'work.c' lines || fail "the program has its lines all the same"
