#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What is emitted at the end is emitted before, too, when the JVM gets SIGQUIT or for `braid ctl`; and the other
# commands of `braid ctl`.
# takes: 8 s
source "$(dirname "$0")/../lib.sh"

start_program out.truth "$JAVA" -Xmx512m -cp "$CLASSES" Allocator 1 4000 wait
choices=thread
[[ $(java_version) -lt 11 ]] || choices=thread,gc,live,alloc=64k
start_record -e "$choices" -p "$JAVA_PID" -o q.trace
wait_joined "$JAVA_PID"
go_on
wait_says out.truth end

# The notices in what the recording has written so far.
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
# The answer to a change arrives after everything requested before is done.
all_done()
{
	braid ctl "$JAVA_PID" interval "alloc=$1" >out
	wait_answered
}
kill -QUIT "$JAVA_PID"
wait_for "the word that it was asked" notices
grep -q 'Full thread dump' out.truth || fail "the JVM does not do its own part any more: $(cat out.truth)"
if [[ $(java_version) -ge 11 ]]; then
	all_done 1m
	wait_for "live objects at SIGQUIT" more_lives 10
	braid ctl "$JAVA_PID" dump
	all_done 2m
	braid ctl "$JAVA_PID" reset
	braid ctl "$JAVA_PID" gc
	all_done 3m
	braid ctl "$JAVA_PID" dump
	all_done 4m
fi
stop_record
end_program
events q.trace "it was asked once" 'sum("SIGQUIT" in n for n in notices) == 1' "nothing lost" 'lost == []'
[[ $(java_version) -lt 11 ]] || events q.trace \
	"objects by their numbers" 'len({e.number for e in of("live", name="int[]")}) > 100 and
		{e.number for e in of("live")} <= {e.number for e in of("alloc") if e.number}' \
	"the kept ones are reported twice, and then forgotten" 'Counter(e.number for e in of("live") if e.number in {
		a.number for a in at("alloc", "Allocator.atKept")}) == {a.number: 2 for a in at("alloc", "Allocator.atKept") if a.number}' \
	"as many as were kept" '500 < len(at("alloc", "Allocator.atKept")) < 1500'
