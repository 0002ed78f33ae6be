#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Collapsed stacks: the format, the sums, and the annotations of flame graph tools.
# class: quick
source "$(dirname "$0")/../lib.sh"

need_sample
for words in "" "--annotate" "--threads" "--lines" "--annotate --threads --lines"; do
	# shellcheck disable=SC2086 # words
	braid export --format collapsed $words "$SAMPLE" >"out$words"
done
cp "$SAMPLE" s.trace
check s.trace \
	"every sample is there" 'weight(stacks) == i["samples"]["total"]' \
	"annotations are known ones" 'all(not re.search(r"_\[.\]$", f) or re.search(r"_\[[jik01]\]$", f) for s, n in stacks for f in s)' \
	"Java frames have one" 'all(re.search(r"_\[[ji01]\]$", f) for s, n in stacks for f in s if f.startswith("Worker."))' \
	"kernel frames have one" 'any(f.endswith("_[k]") for s, n in stacks for f in s)'
python3 - "$PWD" <<-'END'
	import glob, re, sys
	def load(words):
	    lines = open("out" + words).read().splitlines()
	    pairs = [l.rsplit(" ", 1) for l in lines]
	    assert all(n.isdigit() and s and not s.startswith(";") and ";;" not in s for s, n in pairs), words
	    assert len({s for s, n in pairs}) == len(pairs), "a stack twice: " + words
	    return {s: int(n) for s, n in pairs}
	plain, marked, threads, lines = map(load, ("", "--annotate", "--threads", "--lines"))
	whole = load("--annotate --threads --lines")
	for other in (marked, threads, lines, whole):
	    assert sum(other.values()) == sum(plain.values())
	def fold(stacks, change):
	    sums = {}
	    for s, n in stacks.items():
	        sums[change(s)] = sums.get(change(s), 0) + n
	    return sums
	assert fold(marked, lambda s: re.sub(r"_\[[jik01]\](?=;|$)", "", s)) == plain
	assert fold(threads, lambda s: re.sub(r"^\[[^;]*\];", "", s)) == plain
	assert all(re.match(r"\[.* tid=\d+\](;|$)", s) for s in threads)
	assert any(re.search(r";Worker\.\w+:\d", s) for s in lines)
	assert fold(lines, lambda s: re.sub(r"(?<=[\w>$]):\d+(?=;|$)", "", s)) == plain
END
status=0
braid export --format no-such-format "$SAMPLE" >out 2>err || status=$?
[[ $status -eq 2 && ! -s out ]] || fail "an unknown format: exit status $status"
