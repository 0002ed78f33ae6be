#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The parts of a resident set add up to what the kernel says, the Java heap is as large as it is, and what grows has an owner and a stack.
# class: long
# takes: 6 s
source "$(dirname "$0")/../lib.sh"

# resident FILE PID: of a process that is stopped, so that it stays the same.
resident()
{
	kill -STOP "$2"
	braid memory --json "$2" >"$1"
	awk '/^Rss:/ { print $2 * 1024 }' "/proc/$2/smaps_rollup" >"$1.kernel"
	kill -CONT "$2"
	python3 -c '
import json, sys
r, kernel = json.load(open(sys.argv[1])), int(open(sys.argv[1] + ".kernel").read())
assert r["resident"] == kernel == sum(o["resident"] for o in r["owners"]) == sum(p["resident"] for p in r["parts"]), (kernel, r["resident"], r["owners"])
assert all(p["resident"] <= p["end"] - p["start"] for p in r["parts"]), r["parts"]' "$1" || fail "parts do not add up"
}

start_program truth "$JAVA" -Xms32m -Xmx32m -XX:+AlwaysPreTouch -XX:NativeMemoryTracking=detail -cp "$CLASSES" "-Djava.library.path=$CLASSES" Leaks 8192 wait
resident before "$JAVA_PID"
go_on
wait_says truth end
resident after "$JAVA_PID"
python3 -c '
import json
before, after = ({o["owner"]: o["resident"] for o in json.load(open(f))["owners"]} for f in ("before", "after"))
grown = {o: after[o] - before.get(o, 0) for o in after}
all_of_it, leaked, written = sum(grown.values()), 7 * 8192 << 10, 5 * 8192 << 10
assert 32 << 20 <= before["Java heap"] <= 34 << 20, before
assert before["code cache"] > 1 << 20 and before["thread stacks"] > 100 << 10 and before["programs and libraries"] > 4 << 20, before
# calloc does not write what the kernel has just given
assert written <= grown["malloc (glibc)"] < leaked * 1.2, grown
assert grown["not known"] < all_of_it / 20, grown' || fail "what has grown"
braid memory "$JAVA_PID" >text
[[ $(grep -c "^  .* malloc (glibc)$" text) -eq 1 ]] || fail "the table: $(cat text)"
grep -q "  thread $JAVA_PID " text || fail "no stacks: $(cat text)"
if [[ -x $JAVA_HOME/bin/jcmd ]]; then
	"$JAVA_HOME/bin/jcmd" "$JAVA_PID" VM.native_memory detail | braid memory --json --nmt - "$JAVA_PID" >nmt
	python3 -c '
import json
owners = {o["owner"]: o["resident"] for o in json.load(open("nmt"))["owners"]}
assert owners["Java Heap"] >= 32 << 20 and owners["Thread Stack"] > 0 and owners["Code"] > 1 << 20 and "Java heap" not in owners, owners' || fail "by the tracking"
fi
go_on
end_program

# What has grown in five ways has an owner and a stack, but for a twentieth.
start_program truth "$JAVA" -XX:+UseSerialGC -Xms16m -Xmx64m -XX:NativeMemoryTracking=detail -cp "$CLASSES" Grows file
"$BUILD/braid" memory "$JAVA_PID" --watch 1h --stacks --ask --json >grown 2>err &
WATCH_PID=$!
wait_for "the first reading" says_or_gone err "^braid: process $JAVA_PID has .* in memory" "$WATCH_PID"
go_on
wait_says truth grown
kill -INT "$WATCH_PID"
wait_end "$WATCH_PID" "braid memory --watch"
[[ $STATUS -eq 0 ]] || fail "--watch: status $STATUS: $(cat err)"
python3 - <<-'PYTHON' || fail "what has grown: $(head -c 2000 grown)"
	import json

	words = open("truth").read().split("grown ")[1].split()
	planted = {words[i]: int(words[i + 1]) for i in range(0, len(words), 2)}
	r = json.load(open("grown"))
	grown = {o["owner"]: o["resident"] - o["resident_before"] for o in r["owners"]}
	total = r["resident"] - r["resident_before"]
	assert sum(grown.values()) == total and total > sum(planted.values()), (total, planted)
	assert grown["Java Heap"] >= planted["heap"] * 0.9, grown
	assert grown["malloc (glibc)"] >= planted["direct"], grown
	assert grown["Thread Stack"] >= planted["stacks"], grown
	assert grown["other files"] >= planted["file"], grown
	assert grown.get("Metaspace", 0) + grown["Class"] > 3 << 20, grown
	assert abs(grown["not known"]) <= total / 20, grown
	pages = r["pages"]
	lost = pages["lost"] * 4096
	assert pages["new"] == sum(s["bytes"] for s in pages["stacks"]) >= total * 0.99, (pages["new"], total)
	assert pages["with_stack"] == sum(s["bytes"] for s in pages["stacks"] if "frames" in s), pages["with_stack"]
	assert pages["with_stack"] >= pages["new"] * 0.95 - lost, (pages["new"], pages["with_stack"], lost)

	has = lambda s, method: any(f["name"].startswith(method) for f in s.get("frames", []))
	by = lambda owners, method: sum(s["bytes"] for s in pages["stacks"] if s["owner"] in owners and has(s, method))
	sites = [(s["owner"], s["bytes"], s.get("site")) for s in pages["stacks"][:20]]
	assert by({"malloc (glibc)"}, "Grows.growDirect") >= planted["direct"] * 0.95 - lost, sites
	assert by({"other files"}, "Grows.growFile") >= planted["file"] * 0.95 - lost, sites
	assert by({"Thread Stack"}, "Grows.descend") >= planted["stacks"] * 0.6 - lost, sites # a thread's start touches 20 pages ahead
	assert by({"Metaspace", "Class"}, "Grows.growClasses") >= (3 << 20) - lost, sites
	assert by({"Java Heap"}, "Grows.growHeap") > 1 << 20, sites # collections have moved the rest
PYTHON
go_on
end_program

# Another program, and none.
sleep 1000 &
resident other $!
braid memory --watch 50ms "$!" >text
grep -q "^Resident set of process $!: .* in [0-9.]* ms, to " text || fail "--watch: $(cat text)"
kill "$!"
! braid memory --stacks 1 >out 2>err || fail "--stacks without --watch"
grep -q "stacks is for --watch" err || fail "--stacks without --watch: $(cat err)"
! braid memory 4194303 >out 2>err || fail "a process that is not there"
one_line_error out err
! braid memory --nmt /dev/null $$ >out 2>err || fail "no tracking"
one_line_error out err
! braid memory --ask $$ >out 2>err || fail "--ask: no JVM"
one_line_error out err
