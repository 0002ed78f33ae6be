#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Why a thread took as long as it did: its parts add up, and the first one is what the program does.
source "$(dirname "$0")/../lib.sh"

for mode in locked slow; do
	"${UNDISTURBED[@]}" "$BUILD/braid" record --preset wall -F 499 -o "$mode.trace" -- "$JAVA" -cp "$CLASSES" WhatIf "$mode" \
		>out 2>err || fail "$(cat err)"
	braid explain --thread coordinator "$mode.trace" >"$mode.txt"
	braid explain --thread coordinator --json "$mode.trace" >"$mode.json"
	braid explain --thread coordinator --json --what-if running=*1 "$mode.trace" >"$mode.same"
	braid script --event lock "$mode.trace" | grep 'braid:lock: ' >"$mode.locks" || [[ $mode != locked ]] || fail "no locks"
	python3 "$TEST_DIR/explain.py" "$mode"
done
read -r headline <locked.txt
# On a busy machine, those whose time has come wait for a CPU for longer than they slept.
[[ $headline == 'coordinator ('*'% request-* '@(sleeping|waiting for a CPU)' in WhatIf.nap,'* ]] || fail "the headline: $headline"
finds '^The longest single piece: ' <locked.txt || fail "no longest piece: $(cat locked.txt)"

# The half of a thread's life is a stretch, too, and can be compared with the other one.
read -r from middle to < <(python3 -c '
import json
e = json.load(open("locked.json"))
print(e["from_s"], (e["from_s"] + e["to_s"]) / 2, e["to_s"])')
braid explain --thread coordinator --from "$from" --to "$middle" --json locked.trace >first.json
python3 -c '
import json, sys
e = json.load(open("first.json"))
assert sum(p["time_s"] for p in e["parts"]) - e["time_s"] < 1e-6 and abs(e["to_s"] - float(sys.argv[1])) < 1e-6, e' "$middle"
braid explain --thread coordinator --from "$middle" --to "$to" --against "$from..$middle" locked.trace >diff.txt
finds ' difference  ' <diff.txt || fail "no differences: $(cat diff.txt)"

refuses()
{
	local why=$1

	shift
	! braid explain "$@" >out 2>err || fail "braid explain $* succeeded"
	one_line_error out err
	finds "$why" <err || fail "$(cat err)"
}

refuses "has no times of a thread 'nobody'" --thread nobody locked.trace
refuses "is called 'nothing'; locks: .*WhatIf\$Journal.*; methods: .*WhatIf.nap" --thread coordinator --what-if nothing=0 locked.trace

# A process that has executed a program has two lives with one number: the program's is meant.
braid record -q -e offcpu -o exec.trace -- sleep 0.3
braid explain --thread sleep --json exec.trace >sleep.json 2>sleep.err
[[ ! -s sleep.err ]] || fail "another thread is called sleep: $(cat sleep.err)"
read -r tid from < <(python3 -c '
import json
e = json.load(open("sleep.json"))
assert e["parts"][0]["time_s"] >= 0.3, e
print(e["tid"], "%.6f" % (e["from_s"] - 2e-6))')
braid explain --thread "$tid" --json exec.trace >tid.json 2>tid.err
cmp sleep.json tid.json || fail "it is another life: $(cat tid.json)"
finds "executed more than one program.*'sleep'.*'\[before exec\]'" <tid.err || fail "the other life is not named: $(cat tid.err)"
braid explain --thread "$tid" --to "$from" exec.trace >before.txt
finds "^\[before exec\] ($tid) took" <before.txt || fail "not the life before: $(cat before.txt)"
refuses "has no times of a thread 'braid'" --thread braid exec.trace
