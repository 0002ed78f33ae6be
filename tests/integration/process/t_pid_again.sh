#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The pid of a recorded process that has ended is reused: the new process is not recorded.
source "$(dirname "$0")/../lib.sh"

"${CC:-gcc}" -std=gnu11 -O1 "$TEST_DIR/again.c" -o again
cat >stranger.c <<'END'
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
	if (fork() < 0)
		return 1;
	for (alarm(60);;)
		;
}
END
"${CC:-gcc}" -O1 stranger.c -o stranger

# The parent starts its child during the recording, which knows the child by then.
mkfifo in
exec {IN}<>in
start_record -q -o trace -- bash -c 'exec ./again parent <in'
wait_for "the child" says_or_gone record.out ready "$RECORD_PID"
wait_samples 10
child=$(sed -n 's/^ready //p' record.out)
./again "$child" "$PWD/stranger" >again.out 2>again.err &
AGAIN_PID=$!
wait_for "a process with the number" says_or_gone again.out ready "$AGAIN_PID"
[[ -s again.out ]] || skip "the number $child cannot be had: $(cat again.err)"
wait_samples 30
read -ra strangers <"/proc/$child/task/$child/children" || true
kill -KILL "${strangers[@]}" "$child"
echo >&"$IN"
end_record
check trace \
	"the parent was recorded" 'sum(p["samples"] for p in r["processes"] if p["name"] == "again") >= 20' \
	"the stranger was not" 'all(p["name"] != "stranger" for p in r["processes"])'
