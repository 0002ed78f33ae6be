#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Names that contain markup, control sequences or separators stay names.
source "$(dirname "$0")/../lib.sh"

braid record -F 997 -o e.trace -- "$JAVA" -Dfile.encoding=UTF-8 -cp "$CLASSES" Evil >name 2>err
name=$(cat name)
[[ $name == *'<img src=x onerror=alert(1)>'* ]] || fail "the program did not do its part: $name"
braid report --html flame.html e.trace
check e.trace \
	"the class is there" 'any("<img src=x onerror=alert(1)>" in m["name"] and m["total"] > 0 for m in r["methods"])' \
	"the threads are there" 'sum(t["samples"] > 0 for t in r["threads"] if "img" in t["name"] or "two words" in t["name"]
		or t["name"].startswith("line") or "code" in t["name"]) == 4' \
	"stacks stay whole" 'weight(stacks) == i["samples"]["total"]'
python3 "$LIB_DIR/page.py" flame.html e.trace.json 'img src=x onerror'
for command in "report" "report --wall" "info" "script" "script --raw" "export --format collapsed --threads" "diagnose" "top" \
	"query --named methods" "query --named threads --format tsv"; do
	# shellcheck disable=SC2086 # words
	braid $command e.trace >out
	! LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' out || fail "$command prints control characters"
	iconv -f UTF-8 -t UTF-8 out >/dev/null || fail "$command prints bad UTF-8"
done
braid export --format collapsed --threads e.trace >out
[[ $(grep -c '^\[two words' out) -gt 0 ]] || fail "the thread of two words: $(cut -c 1-60 out | sort -u | head)"
! grep -vE '^.+ [0-9]+$' out || fail "a collapsed line is broken"
braid script e.trace >script.txt
! grep -vE '^$|^'$'\t'' *[0-9a-f]+ .* \(.*\)$|^[^[:space:]]+ [0-9]+/[0-9]+ \[[0-9]+\] -?[0-9]+\.[0-9]+:' script.txt ||
	fail "a script line is broken"

# A process's own name on the terminal of who asks and who records. Without the agent, the summary names the JVM.
evil=$'ev\e]0;evil\a'
ln -s "$JAVA" "$evil"
# The prefix is the java command itself, and -Dx is an option without effect.
PREFIX="$PWD/$evil" JAVA=-Dx start_worker evil -XX:+DisableAttachMechanism
start_record -F 99 -o n.trace -p "$JAVA_PID"
wait_sampling
wait_for "an answer of the recorder" answers
stop_record
end_worker evil "$JAVA_PID"
grep -q "JVM $JAVA_PID (ev" ctl.answer || fail "no word about the JVM: $(cat -v ctl.answer)"
grep -q "JVM $JAVA_PID (ev.*) has no agent" record.err || fail "no word about the JVM: $(cat -v record.err)"
! LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' ctl.answer record.err || fail "control characters on the terminal"
