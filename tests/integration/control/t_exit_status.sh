#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# braid exits with the command's status; a command that cannot be run is an error.
# class: quick
source "$(dirname "$0")/../lib.sh"

status=0
braid record -o e.trace -- sh -c 'exit 7' 2>err || status=$?
[[ $status -eq 7 ]] || fail "exit status $status instead of 7: $(cat err)"
status=0
braid record -o k.trace -- sh -c 'kill -9 $$' 2>err || status=$?
[[ $status -eq 137 ]] || fail "exit status $status instead of 137: $(cat err)"
status=0
braid record -o n.trace -- ./no-such-command >out 2>err || status=$?
[[ $status -eq 1 ]] || fail "exit status $status instead of 1: $(cat err)"
one_line_error out err
status=0
PREFIX="$BUILD/braid record -o j.trace --" start_worker jvm
tell jvm exit 3
wait_end "$JAVA_PID" "the recording"
[[ $STATUS -eq 3 ]] || fail "exit status $STATUS instead of 3: $(cat jvm.err)"
braid info j.trace >out

# A JVM that ends at once: only it says why.
status=0
braid record -o o.trace -- "$JAVA" -XX:+NoSuchOption -version 2>err || status=$?
[[ $status -eq 1 ]] || fail "exit status $status instead of 1: $(cat err)"
grep -q "Unrecognized VM option 'NoSuchOption'" err || fail "not the JVM's own words: $(cat err)"
if grep -q "^braid: warning" err; then fail "a warning about a JVM that has ended: $(cat err)"; fi
