#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A heap dump after --watch has the stacks that allocated sampled objects, although collections move them: those of each
# planted holder, and of no other.
source "$(dirname "$0")/../lib.sh"

# sites JDK OPTION...
sites()
{
	local jdk=$1

	shift
	rm -f sites.hprof
	start_program out "$jdk/bin/java" -Xmx96m "$@" -cp "$CLASSES" HeapSites
	braid heap "$JAVA_PID" --dump sites.hprof --watch 2s 2>err || fail "$jdk $*: $(cat err)"
	end_program
	grep -q '^braid: [1-9][0-9]* of [1-9][0-9]* watched objects in it have the stack' err || fail "$jdk $*: $(cat err)"
	braid heap sites.hprof --json -n 60 >sites.json || fail "$jdk $*: no report"
	python3 - <<-'PYTHON' || fail "$jdk $*: $(cat err; braid heap sites.hprof -n 3)"
		import json

		heap = json.load(open("sites.json"))
		seen = set()
		for s in heap["suspects"]:
		    holder = s["path"][-1]["class"]
		    method = {"java.util.HashMap$Node[]": "fillCache", "java.lang.Object[]": "fillList", "byte[][]": "holdLocal"}.get(holder)
		    for site in s["allocated"]:
		        assert f"HeapSites.{method}(HeapSites.java:" in " ".join(site["stack"]), (holder, site)
		        assert site["objects"] >= 1 and site["bytes"] > 0, site
		    assert s["allocated"], holder
		    seen.add(method)
		assert seen == {"fillCache", "fillList", "holdLocal"}, seen
	PYTHON
}

if [[ $# -gt 0 ]]; then
	sites "$@"
	exit
fi
sites "$JAVA_HOME" -XX:+UseG1GC

# So does what holds the objects of a class: each way has the stacks of its own objects beside it. The arrays of the map and
# those of the local variable have ten million bytes each.
braid heap sites.hprof --class 'byte[]' -n 200 --json >class.json || fail "no class"
python3 - <<'PYTHON' || fail "class: $(braid heap sites.hprof --class 'byte[]')"
import json

found = json.load(open("class.json"))
ways = {}
for w in found["holders"]:
    steps = " ".join(step["class"] for step in w["path"])
    ways.setdefault("fillCache" if "HashMap$Node[]" in steps else "holdLocal" if "byte[][]" in steps else "other", []).append(w)
assert sum(w["points"] for w in found["holders"]) == found["points"] and 190 <= found["points"] <= 200, found["points"]
for method in ["fillCache", "holdLocal"]:
    assert sum(w["points"] for w in ways[method]) > 0.3 * found["points"], ways[method]
    stacks = [" ".join(w["allocated"]["stack"]) for w in ways[method] if w["with_stack"]]
    assert stacks and all(f"HeapSites.{method}(HeapSites.java:" in s for s in stacks), stacks
PYTHON
braid heap sites.hprof --class 'byte[]' -n 2 >class
grep -A 2 '^ *allocated  by, [0-9]* of the [0-9]* that have their stack' class | finds ' HeapSites\.[a-zA-Z]*(HeapSites.java:[0-9]*)' ||
	fail "class as text: $(cat class)"
! braid heap sites.hprof --class HeapSites.None 2>err || fail "who holds a class that is not there"
grep -q 'nothing holds an object of a class HeapSites.None' err || fail "a class that is not there: $(cat err)"

# Text has the stack beside the path, also of one object.
braid heap sites.hprof -n 3 >text
grep -A 3 '^ *allocated  by ([0-9]* of its objects have their stack)' text | finds ' HeapSites\.[a-zA-Z]*(HeapSites.java:[0-9]*)' ||
	fail "text: $(cat text)"
sampled()
{
	local address

	python3 -c 'if 1:
		import json
		for b in json.load(open("sites.json"))["biggest"]:
		    if b["object"] == "byte[200000]":
		        print(b["address"])' >addresses
	while read -r address; do
		braid heap sites.hprof --path "$address" >path
		! finds '^Allocated by' <path || return 0
	done <addresses
	fail "no byte[200000] has a stack"
}
sampled
grep -A 2 '^Allocated by' path | finds 'HeapSites.holdLocal(HeapSites.java:' || fail "path: $(cat path)"
