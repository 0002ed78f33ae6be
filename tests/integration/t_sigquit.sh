#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What is told at the end is told before, too, when the JVM gets SIGQUIT or `braid ctl` asks for it; and what else it asks for.
source "$(dirname "$0")/lib.sh"

mkfifo in
"$JAVA" -Xmx512m -cp "$CLASSES" Allocator 1 4000 wait <in >out.truth 2>err &
JAVA_PID=$!
exec {IN}>in
wait_for "the program" grep -qs ready out.truth
choices=thread
[[ $(java_version) -lt 11 ]] || choices=thread,gc,live,alloc=64k
start_record -e "$choices" -p "$JAVA_PID" -o q.trace
wait_joined "$JAVA_PID"
echo >&"$IN"
wait_for "what is kept" grep -qs end out.truth

# Told so far, in what the recording has written by now.
notices()
{
	braid script --raw q.trace 2>/dev/null | finds '^notice .*SIGQUIT'
}
lives()
{
	braid script --raw q.trace 2>/dev/null | grep -c '^jvm_event .* kind=2 ' || true
}
more_lives()
{
	[[ $(lives) -gt $1 ]]
}
kill -QUIT "$JAVA_PID"
wait_for "the word that it was asked" notices
grep -q 'Full thread dump' out.truth || fail "the JVM does not do its own part any more: $(cat out.truth)"
if [[ $(java_version) -ge 11 ]]; then
	wait_for "live objects at SIGQUIT" more_lives 10
	sofar=$(lives)
	braid ctl "$JAVA_PID" dump
	wait_for "live objects when asked" more_lives $((sofar + 10))
	braid ctl "$JAVA_PID" reset
	braid ctl "$JAVA_PID" gc
	braid ctl "$JAVA_PID" interval alloc=1m >out # answered when all that was asked before is done
	braid ctl "$JAVA_PID" dump
	braid ctl "$JAVA_PID" interval alloc=2m >out
fi
stop_record
echo >&"$IN"
wait_end "$JAVA_PID" "the program"
[[ $STATUS -eq 0 ]] || fail "the program ended with $STATUS: $(cat err)"
events q.trace "it was asked once" 'sum("SIGQUIT" in n for n in notices) == 1' "nothing lost" 'lost == []'
[[ $(java_version) -lt 11 ]] || events q.trace \
	"objects by their numbers" 'len({e.number for e in of("live", name="int[]")}) > 100 and
		{e.number for e in of("live")} <= {e.number for e in of("alloc") if e.number}' \
	"each told twice, and then forgotten" 'sorted(2 * [e.number for e in of("alloc", name="int[]") if e.number]) == sorted(
		e.number for e in of("live", name="int[]"))'
