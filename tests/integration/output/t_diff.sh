#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What differs between two recordings: the method that takes three times as long is the first one that is named.
# class: long
# takes: 6 s
source "$(dirname "$0")/../lib.sh"

for factor in 1 3; do
	braid record -q -F 997 -o "$factor.trace" -- "$JAVA" -XX:CompileCommand=quiet '-XX:CompileCommand=dontinline,Rounds.*' \
		-cp "$CLASSES" Rounds "$factor" >out 2>&1 || fail "$(cat out)"
done
for options in --amounts --normalise; do
	# shellcheck disable=SC2086 # words
	braid diff --total $options --include 'Rounds\.main' --json 1.trace 3.trace >diff.json 2>err || fail "$(cat err)"
	python3 - "$options" <<'END' || fail "$options: $(braid diff --total $options 1.trace 3.trace)"
import json, sys

d = json.load(open("diff.json"))
rows = [r for r in d["rows"] if r["method"].startswith("Rounds.") and r["method"] != "Rounds.main"]
assert rows[0]["method"] == "Rounds.changed" and rows[0]["differs"], rows
assert 2 * rows[0]["before"] < rows[0]["after"] < 4.5 * rows[0]["before"], rows[0]
assert d["unit"] == ("share" if sys.argv[1] == "--normalise" else "ns") and d["differ"] >= 1 and d["after"]["total"] > d["before"]["total"], d
END
done
braid diff --total --include 'Rounds\.main' 1.trace 3.trace >text 2>err
grep -q '^  +.* Rounds.changed$' text || fail "$(cat text)"
# By stack: the whole way to the method.
braid diff --by stack --json --include 'Rounds\.main' 1.trace 3.trace >diff.json
python3 - <<'END' || fail "$(braid diff --by stack 1.trace 3.trace)"
import json

d = json.load(open("diff.json"))
changed = [r for r in d["rows"] if r["stack"].endswith("Rounds.main;Rounds.changed")]
assert d["rows_are"] == "stack" and changed and changed[0]["differs"] and changed[0]["after"] > changed[0]["before"], d
END
braid diff --by stack --include 'Rounds\.main' 1.trace 3.trace >text
grep -q '^  +.*;Rounds.main;Rounds.changed$' text || fail "$(cat text)"
for options in '--by stack --total' '--by thread' '--by stack --html x.html'; do
	status=0
	# shellcheck disable=SC2086 # words
	braid diff $options 1.trace 3.trace >text 2>err || status=$?
	[[ $status -eq 2 ]] || fail "$options: $status"
done
# The page of both, in a browser. It is not written over one of them.
status=0
braid diff --html 1.trace 1.trace 3.trace >text 2>err || status=$?
[[ $status -eq 1 ]] || fail "a trace is written over: $status"
one_line_error text err
braid diff --html changes.html 1.trace 3.trace
if node -e 'process.exit(require(process.argv[1]).CHROMIUM ? 0 : 1)' "$TEST_DIR/browser.js"; then
	braid diff --json --all 1.trace 3.trace >diff.json
	node "$TEST_DIR/changes.js" changes.html diff.json
fi
braid diff --total --from 0 --to 10ms 1.trace 1.trace >text
! grep Rounds.changed text || fail "a recording differs from itself"

braid record -q -e page-faults -o faults.trace -- true
status=0
braid diff 1.trace faults.trace >text 2>err || status=$?
[[ $status -eq 1 ]] || fail "samples of different events: $status"
one_line_error text err
status=0
braid diff 1.trace >text 2>err || status=$?
[[ $status -eq 2 ]] || fail "one trace: $status"
