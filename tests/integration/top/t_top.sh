#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A screen of a recording, of a trace that grows, and of a finished one; pages of text.
source "$(dirname "$0")/../lib.sh"

/usr/bin/python3 -c 'import pyte' 2>/dev/null || fail "Debian's python3-pyte is missing; tools/setup installs it"

start_worker busy
tell busy burn 600000

# A trace that another braid is writing, meanwhile.
start_record -o live.trace -- sh -c 'while :; do :; done'

PYTHONPATH=$LIB_DIR /usr/bin/python3 "$TEST_DIR/screens.py" "$BUILD/braid" "$JAVA_PID"
kill -0 "$JAVA_PID" || fail "the JVM has ended"
wait_for "the agent to leave its ring" no_ring "$JAVA_PID"
[[ $(own_copies "$JAVA_PID") -le 1 ]] || fail "the agent was loaded twice"

# What was saved on the way has the method, too, and is whole.
saved=(braid-top-*.trace)
[[ ${#saved[@]} -eq 1 ]] || fail "saved: ${saved[*]}"
braid verify "${saved[0]}" >verified || fail "$(cat verified)"
braid report --json "${saved[0]}" >saved.json
python3 -c 'import json; m = json.load(open("saved.json"))["methods"][0]; assert m["name"] == "Worker.spin", m'

# Of a finished trace there is one page.
braid top "${saved[0]}" -b --top 1 >page
[[ $(grep -c '^braid top .* finished$' page) -eq 1 ]] || fail "$(cat page)"
finds ' Worker\.spin$' <page

# Pages follow the trace that grows, and end when its recorder is killed.
braid top -b -n 2 -d 100ms live.trace >pages
[[ $(grep -c '^braid top .* following$' pages) -eq 2 ]] || fail "$(cat pages)"
finds '^Methods$' <pages
command=$(sed -n 's/ .*//p' "/proc/$RECORD_PID/task/$RECORD_PID/children")
braid top -b -d 100ms live.trace >until_end &
pages_pid=$!
kill -KILL "$RECORD_PID"
wait_end "$pages_pid" "the pages"
[[ $STATUS -eq 0 ]] || fail "braid top ended with $STATUS"
kill -KILL "$command" 2>/dev/null || true
wait "$RECORD_PID" 2>/dev/null || true

# What cannot work says so, at once and on no screen.
braid top -b -p 4194303 >out 2>err && fail "there is no such process"
finds 4194303 <err
for option in "-p $JAVA_PID" --no-attach; do
	STATUS=0
	# shellcheck disable=SC2086 # words
	braid top $option live.trace 2>err || STATUS=$?
	[[ $STATUS -eq 2 ]] || fail "status $STATUS with $option"
	finds 'recorded already' <err
done
kill -KILL "$JAVA_PID"
