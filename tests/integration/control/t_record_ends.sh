#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How recordings end, and what happens to their commands.
# takes: 9 s
source "$(dirname "$0")/../lib.sh"

sleeping()
{
	wait_child "$RECORD_PID" sleep
}

# -d ends the recording; the program continues.
status=0
braid record -d 0.2 -o d.trace -- sleep 86400 >out 2>err || status=$?
[[ $status -eq 0 ]] || fail "exit status $status: $(cat err)"
pid=$(sed -n 's/^braid: sleep continues as process \([0-9]*\).*/\1/p' err)
sleeps()
{
	[[ $(readlink "/proc/$1/exe") == */sleep ]] || gone_or_zombie "$1"
}
[[ -n $pid ]] || fail "it does not run: $(cat err)"
wait_for "the command" sleeps "$pid"
! gone_or_zombie "$pid" || fail "it has ended: $(cat err)"
# ignored PID: whether it ignores SIGPIPE and SIGXFSZ, as the recorder does
ignored()
{
	echo $((0x$(sed -n 's/^SigIgn:\s*//p' "/proc/$1/status") & 0x1001000))
}
[[ $(ignored "$pid") -eq $(ignored $$) ]] || fail "the command ignores what this shell does not: $(ignored "$pid")"
library=$(sed -n 's/^braid: \(.*\) stays in place: JVMs that the command starts load it$/\1/p' err)
[[ -f $library && ! -e ${library%/*}/socket ]] || fail "no agent for JVMs that it starts later: $(cat err)"
kill "$pid"
rm -rf "${library%/*}" # once the command has ended, any recorder may remove it
check d.trace "the trace" 'r["file"]["ended"] and i["duration_s"] < 30'

# JVMs that the program starts later work.
mkfifo go said
"$BUILD/braid" record -d 0.2 -o l.trace -- sh -c 'read line <go; exec "$@" >said 2>&1' sh "$JAVA" -version >out 2>err || fail "$(cat err)"
echo >go
grep -q "64-Bit Server VM" said || fail "a JVM did not start after the recording's end"
library=$(sed -n 's/^braid: \(.*\) stays in place: JVMs.*/\1/p' err)
rm -rf "${library%/*}"

# What the command has started goes on when it ends: JVMs start there, too. The next recorder removes the library after their end.
mkfifo daemon.go daemon.said
"$BUILD/braid" record -o daemon.trace -- sh -c '(read line; exec "$@") <daemon.go >daemon.said 2>&1 & :' sh "$JAVA" -version >out 2>err ||
	fail "$(cat err)"
grep -qx 'braid: processes that sh has started go on without the recording' err || fail "no word about them: $(cat err)"
library=$(sed -n 's/^braid: \(.*\) stays in place: JVMs that they start load it$/\1/p' err)
[[ -f $library && ! -e ${library%/*}/socket ]] || fail "no agent for JVMs of what goes on: $(cat err)"
echo >daemon.go
grep -q "64-Bit Server VM" daemon.said || fail "a JVM did not start after its parent's parent had ended"
rm -rf "${library%/*}"
# shellcheck disable=SC2016 # the command's shell expands it
braid record -o ended.trace -- sh -c 'echo "$JAVA_TOOL_OPTIONS"' >out 2>err || fail "$(cat err)"
dir=$(sed -n 's|^-agentpath:\(.*\)/libbraid-agent.so=.*|\1|p' out)
[[ -n $dir && ! -e $dir ]] || fail "left behind although nothing goes on: '$dir'"
[[ $(wc -l <err) -eq 1 ]] || fail "more is said than what was recorded: $(cat err)"

# A JVM that is the command itself and has loaded the agent no longer needs braid, and continues.
mkfifo jvm.in
exec {in}<>jvm.in
braid record -d 3s -o j.trace -- "$JAVA" -cp "$CLASSES" Worker <jvm.in >jvm.out 2>jvm.err || fail "$(cat jvm.err)"
JAVA_PID=$(sed -n 's/^braid: .* continues as process \([0-9]*\).*/\1/p' jvm.err)
open_worker jvm "$JAVA_PID"
exec {in}>&-
dir=$(tr '\0' '\n' <"/proc/$JAVA_PID/cmdline" | sed -n 's|^-agentpath:\(.*\)/libbraid-agent.so=.*|\1|p')
if grep -q "stays in place: JVMs" jvm.err; then # on a slow machine the agent was not loaded yet
	rm -r "$dir"
else
	[[ -n $dir && ! -e $dir ]] || fail "left behind: '$dir'"
fi
ask jvm burn 50
tell jvm exit
wait_for "the JVM's end" gone_or_zombie "$JAVA_PID"

# --kill ends the program, too.
status=0
braid record --kill -d 0.2 -o k.trace -- sleep 86400 >out 2>err || status=$?
[[ $status -eq 143 ]] || fail "--kill: exit status $status: $(cat err)"
check k.trace "the trace of a program that was ended" 'r["file"]["ended"]'

# Signals that would end braid end the recording, and with it the program.
for signal in HUP QUIT USR1; do
	start_record -o "$signal.trace" -- sleep 86400
	sleeping
	kill -"$signal" "$RECORD_PID"
	wait_end "$RECORD_PID" "the recording after SIG$signal"
	[[ $STATUS -eq 143 ]] || fail "SIG$signal: exit status $STATUS: $(cat record.err)"
	gone_or_zombie "$CHILD" || fail "SIG$signal: the program goes on"
	check "$signal.trace" "the trace after SIG$signal" 'r["file"]["ended"]'
done

# Signals that nohup ignores stay ignored.
nohup "$BUILD/braid" record -o nohup.trace -- sleep 86400 >record.out 2>record.err &
RECORD_PID=$!
sleeping
kill -HUP "$RECORD_PID"
kill -PIPE "$RECORD_PID"
sleep 0.3
kill -0 "$RECORD_PID" || fail "SIGHUP or SIGPIPE has ended it"
kill "$CHILD"
wait_end "$RECORD_PID" "the recording"
check nohup.trace "the trace after signals that were ignored" 'r["file"]["ended"]'

# Times without a unit are seconds, except where they would be ambiguous.
usage()
{
	local status=0

	braid record "$@" -- true >out 2>err || status=$?
	[[ $status -eq 2 ]] || fail "$*: exit status $status: $(cat err)"
}
usage -e lock=5
grep -q "lock=5ms or lock=5s" err || fail "it does not say what to write: $(cat err)"
usage -d 5x
usage -d 0
usage -d 10us
braid record -v -d 100ms -o t.trace -- true 2>once || fail "$(cat once)"
braid record -v -v -d 100ms -o t.trace -- true 2>twice || fail "$(cat twice)"
[[ $(wc -l <twice) -gt $((10 + $(wc -l <once))) ]] || fail "-v -v prints no more than -v: $(cat twice)"
