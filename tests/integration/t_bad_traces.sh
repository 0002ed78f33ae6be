#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Files that are no trace, are damaged, or cut off.
source "$(dirname "$0")/lib.sh"

need_sample
commands=("report" "report --json" "report --html bad.html" "replay" "script" "script --raw" "export --format collapsed"
	"info" "info --json")
# try FILE COMMAND-WORDS: the exit status in STATUS.
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
for cut in 1 $((size / 3)) $((size * 2 / 3)) $((size - 1)); do
	head -c "$cut" "$SAMPLE" >part
	for command in "${commands[@]}"; do
		try part "$command"
		[[ $STATUS -le 1 ]] || fail "$command after $cut bytes: exit status $STATUS"
		[[ $cut -lt 1000 || $STATUS -eq 0 ]] || fail "$command after $cut bytes: $(cat err)"
	done
done
head -c $((size * 2 / 3)) "$SAMPLE" >part
check part "said to be cut" 'r["file"]["truncated"] or r["file"]["no_index"]'
braid report part | finds 'truncated\|cut\|ends\|not ended\|index' || fail "the report does not say that the file is cut off"
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
		[[ $STATUS -le 1 ]] || fail "$command $file: exit status $STATUS"
	done
done
