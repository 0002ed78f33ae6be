#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Methods are timed by their annotations and those of their classes, when these are loaded and when they are already; and by
# regular expressions.
# shellcheck disable=SC2016 # a dollar is a part of the names of nested classes
source "$(dirname "$0")/../lib.sh"

braid record -q -e 'method=@*$Route>1ms/arg1/,method=@*Service>0,method=@Annotated$Forgotten' -o a.trace -- "$JAVA" -Xmx64m -cp "$CLASSES" Annotated 5
events a.trace \
	"annotated" "Counter(e.name for e in of('method')) == {'Annotated.routed': 5, 'Annotated.forgotten': 5, 'Annotated\$Orders.list': 5, 'Annotated\$Orders.clear': 5}" \
	"with values" "{e.text for e in of('method')} == {'', 'arg1=\\\\\"/a\\\\\"'}" \
	'nothing lost' 'lost == []'

"$JAVA" -Xmx64m -cp "$CLASSES" Annotated 100000 >out 2>err &
JAVA_PID=$!
trap 'kill "$JAVA_PID" 2>/dev/null || true' EXIT
wait_for "a round" says_or_gone out '^ROUND' "$JAVA_PID"

rounds()
{
	[[ $(grep -c '^ROUND' out) -ge $1 ]]
}

start_record -e 'method=/@[$](Route|Path)$/,method=/^Annotated[$]Ord.*s$#^(list|none)[(]/,method=@*$Service' -o b.trace -p "$JAVA_PID"
wait_joined "$JAVA_PID"
# have_calls: the trace has calls of all of them.
have_calls()
{
	(events b.trace "calls" "len({e.name for e in of('method')}) >= 3") &>said
}
wait_for "timed calls" have_calls
braid ctl "$RECORD_PID" interval 'method=/@[$](Route|Path)$/>1h' >ctl.out
wait_for "more rounds" rounds $(($(grep -c '^ROUND' out) + 10))
stop_record
kill "$JAVA_PID"
events b.trace \
	"annotated" "{e.name for e in of('method')} == {'Annotated.routed', 'Annotated\$Orders.list', 'Annotated\$Orders.clear'}" \
	"only added up" "max(e.time_ns for e in of('method', name='Annotated.routed')) < max(e.time_ns for e in of('method', name='Annotated\$Orders.list'))" \
	"no others" "{e.name for e in of('method_calls')} == {e.name for e in of('method')}"
[[ $(grep -vc '^WARNING: \|^OpenJDK' err) -eq 0 ]] || fail "the JVM says: $(cat err)"
