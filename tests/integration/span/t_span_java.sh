#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# BraidContext: what a Java thread does is attributed to its span and to no other one: platform threads, and 10,000
# virtual threads that are all in spans at the same time and change their carriers. Samples, and events with a stack: also
# the times for which virtual threads are unmounted, and those that are added up by stack.
# class: long
# takes: 60 s
# alone: its ten thousand threads want every CPU, and would want it three times as long beside others
# shellcheck source=tests/integration/lib.sh
source "$(dirname "$0")/../lib.sh"

JAR=$BUILD/braid-context.jar
[[ -e $JAR ]] || skip "braid was built without a JDK"
DIGITS='\bSpans\.d([0-9])\b.*\bSpans\.c([0-9])\b.*\bSpans\.b([0-9])\b.*\bSpans\.a([0-9])\b'
# Also where frames are thawed, frozen or deoptimised, and for a moment not on the stack.
BETWEEN='^(?!.*Spans\.(insideSpan|outsideSpan)).*(Spans|enterSpecial)|^(?!.*Spans\.d[0-9]).*Spans\.insideSpan'

# spans KIND THREADS SUMS JAVA-OPTION...: SUMS is each or aggregate.
spans()
{
	local kind=$1 threads=$2 sums=$3

	shift 3
	# Where methods are inlined, an instruction can have the name of the one beside its own.
	rm -f out
	"$JDK/bin/java" -XX:CompileCommand=quiet -XX:CompileCommand=dontinline,Spans::* "$@" -cp "$JAR:." Spans "$kind" "$threads" 120 >out 2>err &
	JAVA_PID=$!
	wait_for "the threads" says_or_gone out ready "$JAVA_PID"
	grep -q ready out || fail "Spans did not start: $(cat err)"
	start_record -e "cpu,alloc=64k,offcpu/$sums/" -F 997 -o "$kind.trace" -p "$JAVA_PID"
	wait_joined "$JAVA_PID"
	wait_events "$JAVA_PID"
	wait_samples 3000
	stop_record
	kill "$JAVA_PID"
	wait "$JAVA_PID" || true
	# Virtual threads are known when the agent has reported what is older than itself, and the collector has read that.
	since=$(braid script "$kind.trace" | sed -n 's/.* \(-\?[0-9.]*\): braid:phase: phase="replayed"$/\1/p')
	[[ -n $since ]] || fail "the trace has no record that the agent has reported all"
	since=$(awk -v at="$since" 'BEGIN { print (at > 0 ? at : 0) + 0.25 }')
	braid script --from "$since" "$kind.trace" >"$kind.txt"
	events=counted
	[[ $sums == aggregate ]] || events="alloc offcpu"
	for event in $events; do
		grep -q " braid:$event:\$" "$kind.txt" || fail "no $event of $kind threads"
	done
	python3 "$TEST_DIR/spans.py" "$kind.txt" "$DIGITS" "$BETWEEN" 99 one || fail "$kind threads with $*"
}

JDK=$JAVA_HOME
"$JDK/bin/javac" -nowarn -source 8 -target 8 -cp "$JAR" -d . "$TEST_DIR/context/Spans.java" 2>/dev/null ||
	"$JDK/bin/javac" -cp "$JAR" -d . "$TEST_DIR/context/Spans.java"
spans platform 100 each
spans platform 100 aggregate
# What identifies a virtual thread differs in these two.
found=
for JDK in $(jdks); do
	is_jdk "$JDK" 21 || continue
	found+=" $JDK"
	spans virtual 10000 each
	grep -q 'reason="sleeping".* class="unmounted"' virtual.txt || fail "no unmounted times"
done
[[ -n $found ]] || skip "no JDK of 21 or newer is installed (tools/get-jdk 21)"
