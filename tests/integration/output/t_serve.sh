#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The page of a recording that grows: who gets it, what it keeps when it is refreshed, and what is left when it ends.
# class: long
# takes: 10 s
source "$(dirname "$0")/../lib.sh"

start_worker w
while sleep 0.1; do tell w burn 10; done & # little: the browser needs a CPU
BURNER=$!
"$BUILD/braid" serve -e cpu,offcpu -F 199 -o s.trace -p "$JAVA_PID" >address 2>err &
SERVE=$!
wait_for "the address" says_or_gone address '^http' "$SERVE"
ADDRESS=$(cat address)
[[ $ADDRESS =~ ^http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/$ ]] || fail "no address: $(cat address err)"
SERVER=$(pgrep -x -P "$SERVE" braid-serve) # the process that attaches may be there, too
grep -q '^CapEff:\s*0000000000000000$' "/proc/$SERVER/status" || fail "the server has capabilities"
python3 "$TEST_DIR/serve.py" "$ADDRESS" s.trace
if node -e 'process.exit(require(process.argv[1]).CHROMIUM ? 0 : 1)' "$TEST_DIR/browser.js"; then
	node "$TEST_DIR/live.js" "$ADDRESS" "$SERVE"
else
	kill -INT "$SERVE"
fi
wait_end "$SERVE" "braid serve"
kill "$BURNER"
[[ $STATUS -eq 0 ]] || fail "status $STATUS: $(cat err)"
[[ ! -e /proc/$SERVER ]] || gone_or_zombie "$SERVER" || fail "the server is left behind"
check s.trace "the trace stays" 'i["samples"]["total"] > 0'
braid verify s.trace || fail "the trace is not whole"

# A trace that is whole: the same page, which says that nothing will come.
"$BUILD/braid" serve s.trace >whole 2>err &
SERVE=$!
wait_for "the address of a whole trace" says_or_gone whole '^http' "$SERVE"
python3 -c 'import json, sys, urllib.request
state = json.load(urllib.request.urlopen(sys.argv[1] + "state"))
assert state["growing"] is False and state["generation"] == 1, state' "$(cat whole)"
kill -TERM "$SERVE"
wait_end "$SERVE" "braid serve of a file"
[[ $STATUS -eq 0 ]] || fail "status $STATUS: $(cat err)"

# What cannot be served.
for arguments in "missing.trace" "-d 1 s.trace" "-e gc s.trace" "s.trace -p 1" "-p 1 -o -" "--port 0 s.trace" "--source-link x s.trace" "$0"; do
	status=0
	# shellcheck disable=SC2086 # several arguments
	braid serve $arguments >out 2>err || status=$?
	[[ $status -ne 0 && ! -s out && -s err ]] || fail "braid serve $arguments: $status"
done
