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

# A user's own frames are idle, too; that time, and nothing else, can be left out.
echo WhatIf. >idle.txt
braid explain --thread coordinator --json --idle idle.txt locked.trace >idle.json
braid explain --thread coordinator --json --idle idle.txt --no-idle locked.trace >busy.json
python3 - <<-'END'
	import json
	every, idle, busy = (json.load(open(f"{name}.json")) for name in ("locked", "idle", "busy"))
	shares = {name: sum(p["time_s"] for p in e["parts"] if p["state"] == "idle" and "for" not in p) for name, e in (("every", every), ("idle", idle), ("busy", busy))}
	assert shares["busy"] == 0 and shares["every"] < shares["idle"], shares
	assert abs(busy["idle_left_out_s"] - shares["idle"]) < 1e-6 and "idle_left_out_s" not in idle, (busy["idle_left_out_s"], shares)
	assert abs(busy["time_s"] + shares["idle"] - idle["time_s"]) < 1e-6 and idle["time_s"] == every["time_s"], busy["time_s"]
	assert abs(sum(p["time_s"] for p in busy["parts"]) - busy["time_s"]) < 1e-6, busy["parts"]
	lasting = [p for p in every["parts"] if "for" in p and "longest" in p]
	at = max(lasting, key=lambda p: p["time_s"])["longest"]["at_s"]
	print(at + 1e-6, file=open("at.txt", "w"))
END
read -r moment <at.txt
braid at --json locked.trace "$moment" >at.json
braid at --json --idle idle.txt locked.trace "$moment" >at-idle.json
braid at --json --idle idle.txt --no-idle locked.trace "$moment" >at-busy.json
python3 - <<-'END'
	import json
	every, idle, busy = (json.load(open(f"{name}.json"))["threads"] for name in ("at", "at-idle", "at-busy"))
	assert not next(t["idle"] for t in every if t["name"] == "coordinator"), every
	assert next(t["idle"] for t in idle if t["name"] == "coordinator"), idle
	assert len(every) == len(idle) and busy == [t for t in idle if not t["idle"]], busy
END

refuses()
{
	local why=$1

	shift
	! braid explain "$@" >out 2>err || fail "braid explain $* succeeded"
	one_line_error out err
	finds "$why" <err || fail "$(cat err)"
}

refuses "has no times of a thread 'nobody'" --thread nobody locked.trace
refuses "cannot read none.txt: No such file" --thread coordinator --idle none.txt locked.trace
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
