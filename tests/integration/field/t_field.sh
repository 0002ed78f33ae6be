#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Writes to fields are counted by the method that writes, and reported with their stacks and values; the rewritten classes pass
# the verifier, and compute what they did, on each version.
# takes: 30 s
# shellcheck disable=SC2016 # names of Java classes
source "$(dirname "$0")/../lib.sh"

ROUNDS=60
need_jdk 9 # the javac of 8 has no --release
"$JDK/bin/javac" -Xlint:-options --release 8 -d . "$TEST_DIR/Writes.java"

# Of the first pattern that matches: version without values, which a write to null reaches before it fails.
watched()
{
	local expected

	expected=$("$1/bin/java" -Xmx64m -cp . Writes $ROUNDS | grep '^SUM')
	braid record -q -e 'field=Writes$Account.version/rate=0/,field=Writes$Account.*/old,new,rate=0/,field=*Savings.rate/new/,field=Writes$Account.nope' -o a.trace -- \
		"$1/bin/java" -Xmx64m -Xverify:all -cp . Writes $ROUNDS >out 2>err || fail "JDK $version: $(cat out err)"
	[[ $(grep 'matched nothing' err) == "braid: warning: field=Writes\$Account.nope matched nothing "* ]] ||
		fail "JDK $version, not what matched nothing: $(cat err)"
	grep -qxF "$expected" out || fail "JDK $version computes another sum: $(cat out err), not $expected"
	events a.trace \
		"all are counted on $version" "Counter({(e.name.split('\$')[1], e.detail): sum(f['value'] for f in of('field_writes', name=e.name) if f.detail == e.detail)
			for e in of('field_writes')}) == {
			('Account.owner', 'Writes\$Account.<init>'): $ROUNDS, ('Account.owner', 'Writes.round'): $ROUNDS,
			('Account.balance', 'Writes\$Account.<init>'): $ROUNDS, ('Account.balance', 'Writes\$Account.deposit'): $ROUNDS,
			('Account.balance', 'Writes\$Account.withdraw'): $ROUNDS, ('Account.version', 'Writes\$Account.deposit'): $ROUNDS,
			('Account.version', 'Writes.nowhere'): $ROUNDS, ('Savings.rate', 'Writes\$Savings.<init>'): $ROUNDS,
			('Account.rate', 'Writes.round'): $ROUNDS, ('Account.total', 'Writes.round'): $ROUNDS,
			('Account.last', 'Writes\$Account.<clinit>'): 1, ('Account.last', 'Writes.round'): $ROUNDS,
			('Account.last', 'Writes.nowhere'): $ROUNDS, ('Account.mark', 'Writes.mixed'): $ROUNDS,
			('Account.open', 'Writes.mixed'): $ROUNDS, ('Account.small', 'Writes.mixed'): $ROUNDS,
			('Account.tiny', 'Writes.mixed'): $ROUNDS, ('Account.history', 'Writes.mixed'): 2 * $ROUNDS}" \
		"all have events" "len(of('field')) == sum(e['value'] for e in of('field_writes')) == 18 * $ROUNDS + 1" \
		"stacks" 'all([f for f in stack(e.node) if "BraidFields" not in f][0] == e.detail for e in of("field"))' \
		"threads" '{e.thread.name for e in of("field")} == {"main"}' \
		"values" "[e.text for e in of('field', name='Writes\$Account.balance')][:4] == ['new=1', 'old=1, new=11', 'old=11, new=4', 'new=1']" \
		"of a constructor, without the old one" "[e.text for e in of('field', name='Writes\$Account.owner')][0] == 'new=\\\\\"saver\\\\\"'" \
		"doubles" "[e.text for e in of('field', name='Writes\$Account.rate')][2] == 'old=0.5, new=3'" \
		"floats, static" "[e.text for e in of('field', name='Writes\$Account.total')][1] == 'old=1.5, new=3'" \
		"characters" "[e.text for e in of('field', name='Writes\$Account.mark')][1] == \"old='\\\\\\\\u0000', new='b'\"" \
		"booleans" "{e.text for e in of('field', name='Writes\$Account.open')} == {'old=false, new=true'}" \
		"shorts" "[e.text for e in of('field', name='Writes\$Account.small')][5] == 'old=0, new=-5'" \
		"objects" "[e.text for e in of('field', name='Writes\$Account.history')][:2] == ['old=null, new=null', 'old=null, new=long[1]']" \
		"no values where none were asked for" "{e.text for e in of('field', name='Writes\$Account.version')} == {''}" \
		"nothing lost" 'lost == []'
}
on_each_version 8 watched
braid report --full --top 100 a.trace >tables
for line in "^ *$((3 * ROUNDS)) *Writes\$Account.balance$" "^ *$ROUNDS  *$ROUNDS    Writes.mixed$"; do
	grep -q "$line" tables || fail "the report has no '$line': $(sed -n '/^Field writes/,/^$/p' tables)"
done
braid report --json --top 100 a.trace | python3 -c '
import json, sys
rows = json.load(sys.stdin)["field_writes"]
assert {"field": "Writes$Account.last", "writer": "Writes$Account.<clinit>", "writes": 1, "events": 1} in rows, rows' || fail "the JSON report"
braid export --event field a.trace >stacks
grep -q 'Writes.main;Writes.round;Writes.mixed [0-9]*$' stacks || fail "no stack of mixed: $(cat stacks)"
[[ $(grep -c BraidFields stacks) -eq 0 ]] || fail "frames of the agent: $(cat stacks)"
braid strip -o stripped.trace a.trace
[[ $(braid script --event field stripped.trace | grep -c 'values=\|saver') -eq 0 ]] || fail "values in the stripped trace"
braid strip --anonymise -o stripped.trace a.trace
braid script --event field stripped.trace >anonymous
grep -q 'braid:field: field=' anonymous || fail "no writes in the anonymous trace"
! grep 'Account\|saver\|balance\|deposit' anonymous || fail "names in the anonymous trace"

# A rate limits the events of a pattern, not what is counted.
braid record -q -e 'field=Writes$Account.*/rate=5/' -o limited.trace -- "$JAVA" -Xmx64m -cp . Writes 2000 >out 2>err
events limited.trace \
	"counted" "sum(e['value'] for e in of('field_writes', name='Writes\$Account.tiny')) == 2000" \
	"few events" "5 <= len(of('field')) <= 5 * (2 + (max(e.time_ns for e in of('field')) - min(e.time_ns for e in of('field'))) / 1e9)"

for list in field 'field=balance' 'field=Writes.x/arg1/' 'field=/Writes#x/'; do
	! braid record -e "$list" -o no.trace -- true 2>err || fail "$list is taken"
	grep -q "'" err || fail "$list is refused without a reason: $(cat err)"
done
