#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Traces through pipes: one recording writes to a pipe from which another command reads, and the end of the reader ends
# the recording.
source "$(dirname "$0")/../lib.sh"

awk 'BEGIN { for (;;) x += 1 }' &
target=$!
lines()
{
	braid script "$1" | wc -l
}
# good FILE: a whole trace
good()
{
	check "$1" "$1" 'r["file"]["ended"] and i["samples"]["total"] > 0 and i["lost"] == {}'
}

# ---- standard output ----
braid record -F 499 -p "$target" -d 0.5 -o - 2>err | cat >piped.trace
good piped.trace
grep -q "^braid: standard output: .* samples.*CPU time: braid .* % of one CPU since sampling began" err || fail "no summary: $(cat err)"
# to a file that the shell has opened; the command's own output must not mix with it
# shellcheck disable=SC2016 # the program's own variable
braid record -F 499 -o /dev/stdout -- sh -c 'echo from the program; i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done' 2>err >command.trace
good command.trace
grep -q "^from the program" err || fail "the program's output is lost: $(cat err)"
status=0
script -qec "$BUILD/braid record -p $target -d 0.1 -o -" /dev/null >out 2>&1 || status=$?
{ [[ $status -eq 1 ]] && grep -q "not text for a terminal" out; } || fail "a terminal: $status: $(cat -v out)"

# ---- a FIFO ----
mkfifo fifo
cat fifo >through.trace &
reader=$!
braid record -F 499 -p "$target" -d 0.5 -o fifo 2>err
wait_end "$reader" "its reader"
good through.trace
[[ -p fifo ]] || fail "the FIFO was replaced"

# ---- readers ----
[[ $(lines - <piped.trace) -eq $(lines piped.trace) ]] || fail "from standard input"
# shellcheck disable=SC2002 # a pipe
[[ $(cat piped.trace | lines -) -eq $(lines piped.trace) ]] || fail "from a pipe"
[[ $(lines <(cat piped.trace)) -eq $(lines piped.trace) ]] || fail "from a process substitution"
braid report --full piped.trace >whole
braid report --full - <piped.trace | cmp - whole || fail "report from standard input"
braid report --full <(cat piped.trace) | cmp - whole || fail "report from a pipe"
status=0
braid report --full <(echo no trace) >out 2>err || status=$?
[[ $status -eq 1 ]] || fail "what is no trace: $status"
one_line_error out err

# ---- a reader that ends ----
status=0
{ "$BUILD/braid" record -F 499 -p "$target" -o - 2>err || echo $? >status; } | head -c 100 >/dev/null
[[ $(cat status) -eq 1 ]] || fail "exit status $(cat status)"
{ [[ $(wc -l <err) -eq 1 ]] && grep -q "^braid: standard output: its reader has ended" err; } || fail "not what happened: $(cat err)"
kill "$target"
