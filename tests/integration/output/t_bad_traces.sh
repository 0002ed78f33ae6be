#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Files that are no trace, damaged, or truncated.
source "$(dirname "$0")/../lib.sh"

need_sample
commands=("report" "report --json" "report --html bad.html" "replay" "script" "script --raw" "export --format collapsed"
	"info" "info --json")
# try FILE COMMAND-WORDS: sets STATUS to the exit status.
try()
{
	local file=$1

	shift
	STATUS=0
	# shellcheck disable=SC2086 # words
	braid $1 "$file" >out 2>err || STATUS=$?
}
echo "no trace at all" >text
head -c 100000 "$JAVA" >elf
: >empty
head -c 65536 /dev/zero >zero
mkdir directory
for file in text elf empty zero directory missing; do
	for command in "${commands[@]}"; do
		try "$file" "$command"
		[[ $STATUS -eq 1 ]] || fail "$command $file: exit status $STATUS"
		one_line_error out err
		grep -q "$file" err || fail "$command $file does not name the file: $(cat err)"
		[[ ! -e bad.html ]] || fail "$command $file: left an output file"
	done
done
size=$(stat -c %s "$SAMPLE")
# cut_at BYTES: writes the beginning of the sample to `part`. A cut between two blocks cannot be seen as damage; one a few
# bytes before it can.
cut_at()
{
	head -c "$1" "$SAMPLE" >part
	! braid verify part &>/dev/null || head -c $(($1 - 7)) "$SAMPLE" >part
}
for cut in 1 $((size / 3)) $((size * 2 / 3)) $((size - 1)); do
	cut_at "$cut"
	for command in "${commands[@]}"; do
		try part "$command"
		[[ $cut -gt 1000 || $STATUS -eq 1 ]] || fail "$command after $cut bytes: exit status $STATUS"
		[[ $cut -lt 1000 || $STATUS -eq 3 ]] || fail "$command after $cut bytes: exit status $STATUS: $(cat err)"
		[[ $cut -lt 1000 || $(grep -c 'is damaged: [0-9]* of its [0-9]* bytes' err) -eq 1 ]] ||
			fail "$command after $cut bytes does not say so: $(cat err)"
	done
done
cut_at $((size * 2 / 3))
braid report --full part >out 2>err || [[ $? -eq 3 ]]
{ grep -q '^  file  *byte ' out && ! grep -q 'nothing lost' out; } || fail "what is cut off is no loss: $(grep -A 3 '^Loss' out)"
braid report --json part >part.json 2>err || [[ $? -eq 3 ]]
python3 - <<-'END'
	import json
	r = json.load(open("part.json"))
	assert r["file"]["truncated"] and r["file"]["damaged"] and not r["file"]["ended"], r["file"]
	assert r["lost"]["file"]["byte"] == r["file"]["skipped_bytes"] > 0, r["lost"]
END
python3 - "$SAMPLE" <<-'END'
	import sys
	whole = bytearray(open(sys.argv[1], "rb").read())
	for n, at in enumerate(range(len(whole) // 20, len(whole), len(whole) // 6)):
	    bad = bytearray(whole)
	    bad[at] ^= 0x55
	    open("flip%d" % n, "wb").write(bad)
END
for file in flip*; do
	for command in "${commands[@]}"; do
		try "$file" "$command"
		[[ $STATUS -eq 3 ]] || fail "$command $file: exit status $STATUS"
	done
done
