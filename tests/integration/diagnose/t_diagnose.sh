#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Three faults in one program are found with their places, what looks closer works, and a terminal gets colours and a pager.
# class: long
# takes: 6 s
# alone: a number a second makes some of the faults
source "$(dirname "$0")/../lib.sh"

# The recording goes on for two seconds after all faults are there, however long that takes. A number a second makes some of
# them faults, so other programs must not have the CPUs then.
"${UNDISTURBED[@]}" "$BUILD/braid" record -q --preset all -F 199 --kill -o a.trace -- "$JAVA" -XX:+UseSerialGC -Xmx128m -cp "$CLASSES" \
	Faults lock exceptions classes >record.out 2>record.err &
RECORD_PID=$!
wait_for "the faults" says_or_gone record.out ready "$RECORD_PID"
sleep 2
kill -INT "$RECORD_PID"
wait_end "$RECORD_PID" "the recording"
[[ $STATUS -ge 128 ]] || fail "record: $STATUS, not the status of a killed program: $(cat record.err)"
braid diagnose --json a.trace >found.json
python3 - <<'PYTHON' || fail "findings: $(braid diagnose a.trace)"
import json

all = json.load(open("found.json"))
found = {f["rule"]: f for f in all["findings"]}
for rule, place in ("lock-convoy", "Faults.underLock"), ("exceptions", "Faults.fail"), ("class-loading", "Faults$Template"):
    assert rule in found, rule
    assert any(place in e for e in found[rule]["evidence"]), found[rule]
severities = [f["severity"] for f in all["findings"]]
assert severities == sorted(severities, reverse=True), severities
ids = set(found) | {u["rule"] for u in all["unchecked"]}
assert "deadlock" not in found and "heap-leak" not in ids, ids
open("looks", "w").write("".join(f["look"] + "\n" for f in all["findings"]))
PYTHON

# the page lists every rule with its threshold
braid diagnose --rules --json >rules.json
python3 - "$LIB_DIR/../../docs/diagnose.md" <<'PYTHON' || fail "docs/diagnose.md is not what the program does"
import json, sys

rows = {l.split("`")[1]: l for l in open(sys.argv[1]) if l.startswith("| `")}
rules = json.load(open("rules.json"))
assert set(rows) == {r["rule"] for r in rules}, set(rows) ^ {r["rule"] for r in rules}
for r in rules:
    assert "| %g " % r["threshold"] in rows[r["rule"]], r
PYTHON

# what looks closer shows something
PATH=$BUILD:$PATH
while read -r look; do
	sh -c "$look" >closer 2>err || fail "$look: $(cat err)"
	[[ -s closer ]] || fail "$look prints nothing"
done <looks

# the report says the same, and cuts itself to screens
braid report a.trace >short
braid report --full a.trace >full
sed -n 's/^  suspicious *\([^ ]*\) .*/\1/p' short >first
[[ $(cat first) == "$(python3 -c 'import json; print(json.load(open("found.json"))["findings"][0]["rule"])')" ]] || fail "the summary: $(head -20 short)"
[[ $(wc -l <short) -lt $(wc -l <full) ]] || fail "the report is not shorter than everything"
! grep -q suspicious full || fail "--full is not what is recorded only"

# ---- terminals ----
escape=$'\033'
! grep -q "$escape" short || fail "colours without a terminal"
braid report --color=always a.trace | finds "$escape" || fail "no colours, though always"
on_terminal()
{
	script -qec "$*" /dev/null </dev/null | tr -d '\r'
}
export TERM=xterm BRAID_PAGER='sed s/^/paged:/'
unset NO_COLOR
on_terminal "$BUILD/braid diagnose a.trace" >paged
grep -q '^paged:.*findings\? of' paged || fail "no pager: $(head -3 paged)"
grep -q "$escape" paged || fail "no colours on a terminal"
on_terminal "$BUILD/braid diagnose --no-pager a.trace" | finds '^[0-9]* findings\? of' || fail "a pager, though none is wanted"
NO_COLOR=1 on_terminal "$BUILD/braid diagnose a.trace" >plain
! grep -q "$escape" plain || fail "colours in spite of NO_COLOR"
# a pager that has seen enough ends the command quietly
BRAID_PAGER='head -1' on_terminal "$BUILD/braid script a.trace | head -1; $BUILD/braid report --full --top 100000 a.trace; echo; echo status \$?" >quit
! grep -q 'cannot write' quit || fail "a closed pager: $(cat quit)"
BRAID_PAGER=/nonexistent on_terminal "$BUILD/braid diagnose a.trace" >none
grep -q 'cannot start the pager /nonexistent: No such file' none || fail "no pager: $(head -3 none)"
grep -q '^[0-9]* findings\? of' none || fail "nothing without the pager: $(head -3 none)"
