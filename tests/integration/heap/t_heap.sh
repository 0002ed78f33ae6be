#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `braid heap` counts exactly what is in the heap, by class and loader, from a copy or by the JVM, refuses what would take
# too long, and leaves nothing in the JVM.
# shellcheck disable=SC2016 # names of classes have dollar signs
source "$(dirname "$0")/../lib.sh"

# heap FILE OPTION...: its JSON; what it says before is in err.
heap()
{
	local file=$1

	shift
	braid heap "$JAVA_PID" --json -n 1000 --max-pause 60s "$@" >"$file" 2>err || fail "braid heap $*: $(cat err)"
	grep -qE '^braid: (.* of heap in use: the JVM|the JVM has .* in memory: it) is expected to stand still for ' err ||
		fail "no estimate: $(cat err)"
}

# says FILE WHAT EXPRESSION...: expressions about the histogram `h` and its rows; of(CLASS): the objects by loader.
says()
{
	python3 - "$@" <<-'PYTHON' || fail "$1: see above"
		import json, sys

		heap = json.load(open(sys.argv[1]))
		h, rows = heap["histograms"][-1], heap["classes"]

		def of(name):
		    return sorted(r["objects"] for r in rows if r["class"] == name)

		for what, expression in zip(sys.argv[2::2], sys.argv[3::2]):
		    if not eval("(" + expression + ")"):
		        sys.exit("false: %s: %s\n%s\n%s" % (what, expression, h, rows[:30]))
	PYTHON
}

# says_counts FILE WHAT EXPRESSION...: the same, and what every histogram of the program says of loaders and sums.
says_counts()
{
	says "$@" \
		"loaders" 'of("HeapObjects$Loaded") == [1000, 2000] and len({r["loader"] for r in rows if r["class"] == "HeapObjects$Loaded"}) == 2' \
		"their names" 'all(r["loader"].startswith("java.net.URLClassLoader @") for r in rows if r["class"] == "HeapObjects$Loaded")
			and {r["loader"] for r in rows if r["class"] in ("HeapObjects$Known", "byte[]")} == {"app", "boot"}' \
		"sums" 'sum(r["bytes"] for r in rows) == h["bytes"] and sum(r["objects"] for r in rows) == h["objects"]'
}

# The first of its JVM TI environments, 0: none; empty where libjvm has no symbols.
environments()
{
	python3 "$LIB_DIR/attach/vm_static.py" "$JAVA_PID" _ZN12JvmtiEnvBase17_head_environmentE
}

left_alone()
{
	! has_helper "$JAVA_PID" && ! has_ring "$JAVA_PID"
}

start_program out "$JAVA" -Xmx256m -Xms256m -XX:+UseSerialGC -cp "$CLASSES" HeapObjects "$CLASSES"
heap all.json --all
grep -q ' is expected to stand still for up to [0-9]' err || fail "the first one: $(cat err)"
says_counts all.json \
	"what is kept, and what waits to be collected" 'of("HeapObjects$Known") == [12345] and of("HeapObjects$Garbage") == [20000]' \
	"sizes" '[r["bytes"] / r["objects"] for r in rows if r["class"] == "HeapObjects$Known"][0] in (24, 32)' \
	"the largest first" '[r["bytes"] for r in rows] == sorted((r["bytes"] for r in rows), reverse=True)' \
	"times" '0 < h["pause_s"] < 60 and h["expected_s"] > 0 and h["used_bytes"] > 0'
if "$JAVA_HOME/bin/jcmd" "$JAVA_PID" GC.class_histogram -all >jcmd.out 2>&1; then # 9 and later; it allocates a little
	says all.json "as jcmd counts" "0 <= $(awk '/^Total/ { print $2 }' jcmd.out) - h['objects'] < h['objects'] / 10"
fi
wait_for "the end of the agent" left_alone

# What is reachable is counted in a copy, without a collection: so it is before the next check, which makes one.
heap copied.json
grep -q ' while it is copied$' err || fail "not from a copy: $(cat err)"
says_counts copied.json \
	"what is kept, and no garbage" 'of("HeapObjects$Known") == [12345] and of("HeapObjects$Garbage") == []' \
	"what is said of it" 'h["copied"] and not h["live"] and h["pause_s"] > 0 and h["expected_s"] > 0 and not h["expected_at_most"]'
wait_for "the end of the copy" left_alone

# After a collection there is no garbage.
heap live.json --live
python3 - copied.json live.json <<-'PYTHON' || fail "copied.json and live.json: see above"
	import json, sys

	def rows(path):
	    return {(r["class"], r["loader"]): (r["objects"], r["bytes"]) for r in json.load(open(path))["classes"]}

	copied, live = map(rows, sys.argv[1:])
	# A loader has its identityHashCode in both.
	loaded = [{key for key in counted if key[0] == "HeapObjects$Loaded"} for counted in (copied, live)]
	if loaded[0] != loaded[1]:
	    sys.exit("loaders: %s and %s" % tuple(loaded))
	same = {key for key in copied if key in live and copied[key][0] == live[key][0]}
	# What an object takes is known of all kinds: instances, arrays, classes with their static fields.
	wrong = [(key, copied[key], live[key]) for key in same if copied[key] != live[key]]
	if wrong or len(same) < 0.8 * len(live) or ("java.lang.Class", "boot") not in copied:
	    sys.exit("%d of %d classes have as many objects; wrong: %s" % (len(same), len(live), wrong[:10]))
PYTHON
says live.json "what is kept" 'of("HeapObjects$Known") == [12345]' "no garbage" 'of("HeapObjects$Garbage") == [] and h["live"]'

# Text, and a trace that can be read later.
braid heap "$JAVA_PID" -n 3 -o kept.trace >text 2>err
grep -q "^process $JAVA_PID: [0-9]* reachable objects, .*; it stood still for " text || fail "no result: $(cat text err)"
grep -q '^    and [0-9]* more$' text || fail "more than three rows: $(cat text)"
grep -q ' total$' text || fail "no total: $(cat text)"
braid report --full kept.trace | finds "^Heap of pid $JAVA_PID\$" || fail "the trace has no histogram"

# refused WORDS ARGUMENT...: one line, and no output.
refused()
{
	local words=$1 status=0

	shift
	braid heap "$@" >text 2>err || status=$?
	[[ $status -eq 1 && ! -s text ]] || fail "heap $*: status $status: $(cat text err)"
	[[ $(wc -l <err) -eq 1 ]] || fail "heap $*: $(cat err)"
	grep -q "^braid: .*$words" err || fail "heap $*: $(cat err)"
}
braid report --full kept.trace | finds "reachable, in a copy\$" || fail "the trace does not say that it was copied"
braid heap "$JAVA_PID" --all -n 3 >text 2>err
grep -q "^process $JAVA_PID: [0-9]* objects, " text || fail "no result: $(cat text err)"
grep -q '^braid: .* is expected to stand still for [0-9]' err || fail "not estimated as measured: $(cat err)"
refused "not counted: that is expected to take .*, and --max-pause allows 1 ns; .*--force" "$JAVA_PID" --all --max-pause 1ns
refused "not counted: that is expected to take .*, and --max-pause allows 1 ns; .*--force" "$JAVA_PID" --max-pause 1ns
refused "is not a JVM" $$
refused "no process" 4194304
STATUS=0
braid heap "$JAVA_PID" --max-pause 25h >text 2>err || STATUS=$?
[[ $STATUS -eq 2 ]] || fail "a limit of more than a day: $STATUS: $(cat err)"
braid heap "$JAVA_PID" --max-pause 1ns --force -n 1 >text 2>err || fail "--force: $(cat err)"

wait_for "the end of the agent" left_alone
end_program
[[ ! -e /tmp/.attach_pid$JAVA_PID ]] || fail "left behind: /tmp/.attach_pid$JAVA_PID"
