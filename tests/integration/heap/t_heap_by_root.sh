#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `braid heap --by root` gives what is reachable to threads, to classes with their static fields, and to other roots: each
# planted holder has what it holds, of a process and of its dump, and all of them together have what is reachable.
# shellcheck disable=SC2016 # names of classes have dollar signs
source "$(dirname "$0")/../lib.sh"

start_program out "$JAVA" -Xmx256m -XX:+UseSerialGC -cp "$CLASSES" Holders "$CLASSES"
braid heap "$JAVA_PID" --by root -n 100000 --json >process.json 2>err || fail "$(cat err)"
grep -q 'is expected to stand still for .* while it is copied$' err || fail "no estimate: $(cat err)"
braid heap "$JAVA_PID" --json >whole.json 2>err || fail "$(cat err)"
braid heap "$JAVA_PID" --dump x.hprof 2>err || fail "$(cat err)"
braid heap x.hprof --by root -n 100000 --json >file.json 2>err || fail "$(cat err)"
python3 - <<-'PYTHON' || fail "see above"
	import json

	def load(path):
	    return json.load(open(path))

	def has(rows, bytes_of, what, kind, name, least, more):
	    found = [r[bytes_of] for r in rows if (r["kind"], r["name"]) == (kind, name)]
	    assert len(found) == 1 and least <= found[0] <= least + more, (what, kind, name, least, found)

	process, file, whole = load("process.json"), load("file.json"), load("whole.json")["histograms"][-1]
	spare = 300000  # what is beside the planted bytes
	for what, rows, bytes_of, thread, klass in (("process", process["roots"], "bytes", "%s", "%s"),
	                                     ("file", file["roots"], "retained_bytes", 'java.lang.Thread "%s"', "class %s")):
	    has(rows, bytes_of, what, "thread", thread % "has-local", 4000000, spare)
	    has(rows, bytes_of, what, "thread", thread % "has-thread-local", 2500000, spare)
	    has(rows, bytes_of, what, "static", klass % "Holders$Cache", 5000 * 1000, 1000 * 1000)
	    has(rows, bytes_of, what, "static", klass % "Holders", 100 * 35000, spare)
	    has(rows, bytes_of, what, "static", klass % "Holders$Leaked", 3000000, spare)
	assert sum(r["retained_bytes"] for r in file["roots"]) == file["held"]["bytes"]
	assert sum(r["objects"] for r in file["roots"]) == file["held"]["objects"]
	for key in ("bytes", "objects"):
	    assert sum(r[key] for r in process["roots"]) == sum(k[key] for k in process["kinds"]) == process[key]
	    # The other histogram is of a copy a moment later.
	    assert abs(process[key] - whole[key]) < whole[key] / 20, (key, process[key], whole[key])
	cache = next(r for r in process["roots"] if r["name"] == "Holders$Cache")
	assert cache["most"]["class"] == "byte[]" and cache["most"]["objects"] >= 5000, cache
PYTHON

braid heap "$JAVA_PID" --by root -n 5 >text 2>err || fail "$(cat err)"
grep -q "^process $JAVA_PID: [0-9]* reachable objects, .*; it stood still for " text || fail "$(cat text)"
grep -q ' class Holders$Cache; [0-9]* byte\[\]: ' text || fail "$(cat text)"
braid heap x.hprof --by root -n 5 >text || fail "$(cat text)"
grep -q ' 3.8. MiB .* java.lang.Thread "has-local" 0x' text || fail "$(cat text)"

# refused STATUS WORDS ARGUMENT...
refused()
{
	local status=0 expected=$1 words=$2

	shift 2
	braid heap "$@" >text 2>err || status=$?
	[[ $status -eq $expected && ! -s text ]] || fail "heap $*: status $status: $(cat text err)"
	grep -q "^braid.*$words" err || fail "heap $*: $(cat err)"
}
refused 2 "--by: 'class' is not known" "$JAVA_PID" --by class
refused 2 "it does not go with --all" "$JAVA_PID" --by root --all
refused 2 "different questions" x.hprof --by root --path 0x1
refused 2 "different questions" x.hprof --by root --class Holders
refused 2 "different questions" x.hprof --class Holders --path 0x1
refused 2 "--class is for a heap dump" "$JAVA_PID" --class Holders
refused 1 "its heap is not counted by root: to copy .* --max-pause allows 1 ns" "$JAVA_PID" --by root --max-pause 1ns
exec {IN}>&-
wait_end "$JAVA_PID" "the program"

# ZGC's heap is not copied.
start_program out "$JAVA" -Xmx256m -XX:+UseZGC -cp "$CLASSES" HeapObjects "$CLASSES"
refused 1 "its heap is not counted by root: .* --dump FILE, " "$JAVA_PID" --by root
end_program
