#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Methods take as long as the program finds itself; how they end, their stacks and values, and those that are too short for an event.
# takes: 17 s
source "$(dirname "$0")/../lib.sh"

ROUNDS=20
braid record -q -e 'method=Timings.held>2ms/arg1,arg2,this.name,arg3/,method=Timings.*>2ms,method=Timings.neverThere' -o a.trace -- "${UNDISTURBED[@]}" "$JAVA" -Xmx64m -cp "$CLASSES" Timings $ROUNDS >a.trace.truth 2>err
[[ $(grep 'matched nothing' err) == "braid: warning: method=Timings.neverThere matched nothing "* ]] || fail "not what matched nothing: $(cat err)"

# as_timed METHOD: most of its calls agree within 1 % or 100 us; the program may lose the CPU between two readings of the clock.
as_timed()
{
	echo "at_least(sum(abs(e.duration_ns - int(ns)) <= max(int(ns) / 100, 100000) for e, ns in
		zip(of('method', name='Timings.$1'), [ns for name, ns in truth['CALL'] if name == '$1'])), $ROUNDS, 70)"
}

events a.trace \
	"as long as the program says" "$(as_timed caught) and $(as_timed overloaded)" \
	"all calls" "len(of('method', name='Timings.caught')) == $ROUNDS == len(of('method', name='Timings.overloaded'))" \
	"recursion" "len(of('method', name='Timings.recursive')) == 3 * $ROUNDS" \
	"exceptions" "all(e.flags == (e.detail != '') and (e.detail == 'java.lang.IllegalStateException') == (e.name == 'Timings.failing')
		for e in of('method'))" \
	"an exception, or not" "sum(e.detail == 'java.lang.IllegalArgumentException' for e in of('method', name='Timings.held')) == $ROUNDS // 2" \
	"values of those that have been asked for them" "not [e for e in of('method') if e.text and e.name != 'Timings.held']" \
	"stacks" 'all([f for f in stack(e.node) if "BraidMethods" not in f][0] == e.name for e in of("method"))' \
	"calls that are too short" "sum(e['value'] for e in of('method_calls', name='Timings.shortOne')) == 1000 * $ROUNDS" \
	"all are counted" "sum(e['value'] for e in of('method_calls', name='Timings.recursive')) == 3 * $ROUNDS" \
	"constructors and initialisers are others" "not [e for e in of('method') + of('method_calls') if '<' in e.name]" \
	"nothing lost" 'lost == []'
braid report --full --top 1000 a.trace >tables
for line in "^ *$((1000 * ROUNDS)) .* Timings.shortOne$" "^ *$ROUNDS .* Timings.caught$" ' Timings.failing, ended by java.lang.IllegalStateException, in main$' \
	' \[none\]$' ' java.lang.IllegalArgumentException$' ' Timings.held (arg1=-7, arg2=null, this.name="a .*), in main$'; do
	grep -q "$line" tables || fail "the report has no '$line': $(sed -n '/^All calls/,/^$/p' tables)"
done
braid report --json --top 1000 a.trace | python3 -c '
import json, re, sys
r = json.load(sys.stdin)
rounds = int(sys.argv[1])
euros = "\"" + 64 * "\u20ac" + "\"..."
values = [c["values"] for c in r["slowest_calls"] if c["method"] == "Timings.held"]
name = "this.name=\"a \\\"b\\\"\\n\\u001b[31m<script>\""
for text in "null", euros:
    expected = re.escape("arg1=-7, arg2=" + text + ", " + name + ", arg3=Timings@") + "[0-9a-f]+"
    assert sum(bool(re.fullmatch(expected, v)) for v in values) == rounds // 2, (expected, values)
assert {m["calls"] for m in r["timed_methods"] if m["method"] == "Timings.caught"} == {rounds}, r["timed_methods"]
assert all(sum(d["calls"] for d in m["distribution"]) == m["calls"] for m in r["timed_methods"]), r["timed_methods"]
assert all(c["self_ns"] < c["ns"] for c in r["slowest_calls"] if c["method"] in ("Timings.caught", "Timings.failing")), r' $ROUNDS ||
	fail "the JSON report"
braid export --event method a.trace >stacks
grep -q 'Timings.caught;Timings.failing;Timings.busy [0-9]*$' stacks || fail "no stack of busy: $(cat stacks)"
[[ $(grep -c BraidMethods stacks) -eq 0 ]] || fail "frames of the agent: $(cat stacks)"

# What the JVM itself calls to link what the measurement calls: it does not measure itself without an end.
links_itself()
{
	[[ " 11 17 21 25 " == *" $version "* ]] || return 0
	braid record -q -e 'method=java.util.concurrent.ConcurrentHashMap.get>1s' -o linking.trace -- \
		"$1/bin/java" -Xmx64m -cp . Linking >out 2>err || fail "JDK $version: $(cat out err)"
	grep -qx 'sum 49950000' out || fail "JDK $version: $(cat out err)"
	events linking.trace "its calls were counted on $version" \
		'sum(e["value"] for e in of("method_calls", name="java.util.concurrent.ConcurrentHashMap.get")) >= 1000'
}
need_jdk 11
"$JDK/bin/javac" --release 11 -d . "$TEST_DIR/Linking.java"
on_each_version 11 links_itself
