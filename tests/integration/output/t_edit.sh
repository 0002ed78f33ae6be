#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Traces from traces: a part shows what its window shows of the whole, parts merge to the whole, a stripped trace has no
# private name, and what damage leaves is whole again.
# takes: 4 s
source "$(dirname "$0")/../lib.sh"

braid record -q -F 499 -e cpu,gc,alloc,offcpu -o all.trace -- "$JAVA" '-Dsecret.key=secret' -cp "$CLASSES" Rounds 1 >out 2>&1 ||
	fail "$(cat out)"
braid verify all.trace >verify.txt || fail "$(cat verify.txt)"
finds 'The trace is whole' <verify.txt

# samples TRACE OPTION...: how many the options select
samples() { braid report --json "${@:2}" "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)["samples"]["total"])'; }

end=$(braid info --json all.trace | python3 -c 'import json, sys; print(json.load(sys.stdin)["duration_s"])')
middle=$(python3 -c "print($end / 2)")
braid cut --to "$middle" -o first.trace all.trace >/dev/null
braid cut --from "$middle" -o second.trace all.trace >/dev/null
for event in cpu alloc offcpu; do
	braid export --event $event --to "$middle" all.trace >window 2>err || fail "$event: $(cat err)"
	braid export --event $event first.trace >part 2>err || fail "$event: $(cat err)"
	cmp window part || fail "$event: the part differs from the window"
	cat part >>parts
done
[[ -s parts ]] || fail "nothing was compared"
# Lives are as long, and threads ran as long; of waits, only those that are known in sum may be shared out differently.
python3 - <(braid report --wall --json --from "$middle" all.trace) <(braid report --wall --json second.trace) <<'END' || fail "wall"
import json, sys

whole, part = (json.load(open(path))["states_s"] for path in sys.argv[1:])
assert whole["running"] == part["running"], (whole, part)
assert abs(sum(whole.values()) - sum(part.values())) < 1e-6, (whole, part)
END
braid merge -o merged.trace first.trace second.trace >/dev/null
[[ $(samples merged.trace) -eq $(samples all.trace) && $(samples first.trace) -gt 0 && $(samples second.trace) -gt 0 ]] ||
	fail "merged: $(samples merged.trace) samples, all: $(samples all.trace)"
for event in cpu offcpu; do
	braid export --event $event merged.trace 2>/dev/null | sort >merged
	braid export --event $event all.trace 2>/dev/null | sort >all
	[[ -s all ]] || fail "$event: nothing is exported"
	cmp merged all || fail "$event: the merged parts differ from the whole"
done

braid strip -o plain.trace all.trace >/dev/null
! braid script --raw plain.trace | finds secret || fail "a property is left"
braid script --raw plain.trace | finds Rounds || fail "names are gone"
braid report --summary plain.trace | finds '^  recorded   on ' || fail "the summary without a command: $(braid report --summary plain.trace | head -n 2)"
braid strip --anonymise -o public.trace all.trace >/dev/null
braid script --raw public.trace >raw
! grep -e secret -e Rounds -e "$CLASSES" raw || fail "names are left"
[[ $(samples public.trace) -eq $(samples all.trace) ]] || fail "samples are gone"
braid report public.trace | finds 'Class[0-9]*\.method[0-9]' || fail "no pseudonyms"

# A cut between two blocks cannot be seen as damage; one a few bytes before it can.
for less in 0 7; do
	head -c $(($(stat -c %s all.trace) * 3 / 4 - less)) all.trace >cut.trace
	status=0
	braid verify cut.trace >verify.txt || status=$?
	[[ $status -eq 0 ]] || break
done
[[ $status -eq 3 ]] || fail "a cut file: $status: $(cat verify.txt)"
braid recover -o whole.trace cut.trace >/dev/null 2>&1 || fail "recover"
braid report --json whole.trace | python3 -c 'import json, sys; assert "file" in json.load(sys.stdin)["lost"]' ||
	fail "the loss is not counted"

for wrong in "cut all.trace" "cut -o x.trace all.trace" "merge -o x.trace all.trace" "strip all.trace" \
	"strip -o x.trace --keep org. all.trace"; do
	status=0
	# shellcheck disable=SC2086 # words
	braid $wrong >text 2>err || status=$?
	[[ $status -eq 2 && ! -e x.trace ]] || fail "$wrong: $status"
done
status=0
braid cut --pid 1 -o all.trace all.trace >text 2>err || status=$?
[[ $status -eq 1 ]] || fail "onto itself: $status"
one_line_error text err
