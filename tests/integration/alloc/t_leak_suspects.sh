#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The site that grows is the first leak suspect of a recording with live objects. What a method keeps from the start, what
# has a bound and what is garbage, all of the same class and size, are none. The report has the command that says who holds
# the objects.
# class: long
source "$(dirname "$0")/../lib.sh"

[[ $(java_version) -ge 11 ]] || skip "sampled allocations came with JDK 11"

# suspects NAME JAVA-OPTION...
suspects()
{
	local name=$1

	shift
	braid record -e alloc=64,live=65536 -o "$name.trace" -- "$JAVA" "$@" -cp "$CLASSES" Growing >"$name.out" 2>"$name.err"
	braid report --json --top 100000 "$name.trace" >"$name.json"
	python3 - "$name.json" "$(sed -n 's/^leaked //p' "$name.out")" <<-'PYTHON' || fail "$name: $(braid report --full "$name.trace" | grep -A30 '^Leak suspects')"
		import json, sys

		report, leaked = json.load(open(sys.argv[1])), int(sys.argv[2])
		suspects = report["leak_suspects"]
		assert suspects, "there is none"
		s = suspects[0]
		assert s["class"] == "byte[]" and "Growing.leak" in s["site"], s
		assert abs(s["live_bytes"] / leaked - 1) < 0.05 and 0 < s["grown_bytes"] < s["live_bytes"], (s, leaked)
		assert s["live_survived"] >= 1 and s["grown_bytes_per_hour"] > s["grown_bytes"], s
		assert any(f["name"] == "Growing.main" and f["line"] for f in s["frames"]), s
		others = {f["name"] for s in suspects for f in s["frames"]} & {"Growing.garbage", "Growing.replace", "Growing.fill"}
		assert not others, others
		there = {f["name"] for s in report["sites"] if s["live_bytes"] for f in s["frames"]}
		assert {"Growing.replace", "Growing.fill"} <= there, there
	PYTHON
}

suspects serial -XX:+UseSerialGC -Xmx256m
suspects g1 -XX:+UseG1GC -Xmx256m

braid report serial.trace >serial.txt
grep -A 3 '^Leak suspects' serial.txt | finds 'byte\[\], Growing.leak' || fail "the report: $(grep -A 12 '^Leak suspects' serial.txt)"
pid=$(braid report --json serial.trace | python3 -c 'import json, sys; print(json.load(sys.stdin)["leak_suspects"][0]["pid"])')
grep -qF "who holds them: braid heap $pid --dump FILE, and then braid heap FILE --class 'byte[]'" serial.txt || fail "the report does not say how to find who holds them"

# The page has the same, and shows it.
braid report --html serial.html serial.trace
python3 - <<-'PYTHON' || fail "the page's data"
	import json, re

	data = json.loads(re.search(r'id="data">(.*?)</script>', open("serial.html").read(), re.S).group(1))
	assert data["leak_suspects"] == json.load(open("serial.json"))["leak_suspects"][:10]
PYTHON
# shown PAGE TEXT: whether the page's view of the recording has the text.
shown()
{
	node "$LIB_DIR/output/page.js" "$1" "(function has(e) { return e.textContent.includes(\"$2\") || e.children.some(has); })(\$(\"recording-view\"))"
}
for text in "byte[], Growing.leak" "Growing.main:" "braid heap $pid --dump FILE, and then braid heap FILE --class 'byte[]'"; do
	shown serial.html "$text" || fail "the page does not show: $text"
done

# What a program does not keep leaves no suspects.
braid record -e alloc=64,live=65536 -o none.trace -- "$JAVA" -XX:+UseSerialGC -version >none.out 2>none.err
[[ $(braid report --json none.trace | python3 -c 'import json, sys; print(len(json.load(sys.stdin)["leak_suspects"]))') == 0 ]] ||
	fail "a program that only starts: $(braid report --full none.trace | grep -A30 '^Leak suspects')"
braid report --html none.html none.trace
shown none.html "No site grew in each quarter" || fail "the page does not say that there is none"
