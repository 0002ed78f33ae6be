#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The number of exceptions of each class is the program's, and those with an event have stacks.
# takes: 20 s
# shellcheck disable=SC2016 # names of classes have dollar signs
source "$(dirname "$0")/../lib.sh"

as_said()
{
	events "$1" \
		"of each class" 'all(total(of("exception", name=name)) == int(n) for name, n in truth["thrown"]) and len(truth["thrown"]) == 7' \
		"where they are caught" 'all(e.detail == "ExceptionEvents.catcher" for e in of("exception", name="ExceptionEvents$Mine")
			if e["value"] == 1 and e.node)' \
		"nobody catches" 'all(e.detail == "" for e in of("exception", name="java.lang.IllegalStateException"))' \
		"nothing lost" 'lost == []'
}


braid record -e cpu,exception=1000 -F 99 -o few.trace -- "$JAVA" -Xmx64m -Xss512k -cp "$CLASSES" ExceptionEvents 20000 >few.trace.truth 2>err
as_said few.trace
events few.trace "one by one" 'len(of("exception", name="ExceptionEvents$Mine")) == 400' \
	"with stacks" 'at_least(sum(e.node != 0 for e in of("exception", name="ExceptionEvents$Mine")), 400, 99)' \
	"a flood is counted" 'len(of("exception", name="ExceptionEvents$Flood")) < 10000'

for mode in -Xint -Xcheck:jni; do
	braid record -e cpu,exception=50 -F 99 -o mode.trace -- "$JAVA" -Xmx64m -Xss512k "$mode" -cp "$CLASSES" ExceptionEvents 2000 \
		>mode.out 2>err
	grep '^thrown' mode.out >mode.trace.truth
	as_said mode.trace
done
# Complaints of the checks that also appear without the agent, such as 8's launcher's.
"$JAVA" -Xmx64m -Xss512k -Xcheck:jni -cp "$CLASSES" ExceptionEvents 1 >bare.out 2>&1
[[ $(grep -c 'in native method' mode.out) -le $(grep -c 'in native method' bare.out) ]] || fail "-Xcheck:jni: $(cat mode.out)"

# An agent that is loaded later gets none, with a notice.
start_worker late
start_record -e cpu,exception -F 99 -p "$JAVA_PID" -o late.trace
wait_attached "$JAVA_PID"
ask late burn 10
stop_record
end_worker late "$JAVA_PID"
events late.trace "says so" 'any("exceptions" in n and "braid record -e exception -- java" in n for n in notices)' \
	"none" 'of("exception") == []'
