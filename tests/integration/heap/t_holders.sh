#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `braid heap FILE` finds what holds much in a dump that jcmd has written: each planted holder, with its path and its
# exact bytes, whatever the layout of objects; sizes are those that the JVM counts.
# shellcheck disable=SC2016 # names of classes have dollar signs
source "$(dirname "$0")/../lib.sh"

# holds FILE REFERENCE HISTOGRAM: the report FILE has the planted holders. REFERENCE: bytes of a reference.
holds()
{
	python3 - "$@" <<-'PYTHON' || fail "$1: see above"
		import json, re, sys

		heap, ref = json.load(open(sys.argv[1])), int(sys.argv[2])
		head = 8 + ref  # without compressed references there are no compressed class pointers, too
		def up(n):
		    return (n + 7) // 8 * 8
		def obj(refs, ints=0):
		    return up(head + refs * ref + ints * 4)
		def array(n, size=1):
		    return up(head + 4 + n * size) if size < 8 else up(head + 4) + n * size

		by_object = {(s["path"][-1]["object"], s["path"][-1]["retained_bytes"]): s for s in heap["suspects"]}
		def suspect(name, retained):
		    found = by_object.get((name, retained))
		    assert found, (name, retained, list(by_object))
		    return found, [step.get("by") for step in found["path"]]

		table = array(8192, ref)
		entries = 5000 * (obj(3, 1) + obj(1) + array(1000)) + (5000 - 128) * obj(0, 1)
		s, by = suspect("java.util.HashMap$Node[8192]", table + entries)
		assert by[-2:] == ["static Holders$Cache.map", ".table"], by
		assert s["below"][0]["class"] == "java.util.HashMap$Node" and s["below"][0]["objects"] == 5000, s["below"]

		s, by = suspect("byte[4000000]", array(4000000))
		assert s["root"]["kind"] == "thread" and s["root"]["thread"] == 'java.lang.Thread "has-local"', s["root"]
		assert re.fullmatch(r"local of Holders\.holdLocal\(Holders\.java:\d+\)", by[1]) and by[2:] == [".bytes"], by
		assert any(f.startswith("Holders.park(") for f in s["root"]["stack"]), s["root"]

		s, by = suspect("byte[2500000]", array(2500000))
		assert s["root"]["thread"] == 'java.lang.Thread "has-thread-local"', s["root"]
		assert by[1] == ".threadLocals" and by[2] == ".table" and by[4] == ".value", by

		s, by = suspect("byte[3000000]", array(3000000))
		assert s["root"]["thread"] == 'java.lang.Thread "has-loader"', s["root"]
		assert by[1:] == [".contextClassLoader", "loads", "static Holders$Leaked.kept"], by

		# The queue itself has the last of its 101 nodes, too; the first one is empty.
		s, by = suspect("java.util.concurrent.LinkedBlockingQueue$Node", 99 * array(35000) + 100 * obj(2))
		assert by[-2:] == ["static Holders.queue", ".head"] and s["linked_objects"] == 100, (by, s["linked_objects"])
		assert len(heap["suspects"]) == 5, list(by_object)

		assert heap["weakly"]["bytes"] >= 77777 and heap["held"]["bytes"] > entries, heap["weakly"]
		assert heap["duplicate_addresses"] == 0

		# As many bytes as the JVM counts, if there are as many objects. Threads have padding that no dump knows.
		rows, same = {}, 0
		for line in open(sys.argv[3]):
		    m = re.match(r" *\d+: +(\d+) +(\d+) +(\S+)", line)
		    if m and not m[3].startswith("["):
		        rows.setdefault(m[3].replace("/0x", "+0x"), []).append((int(m[1]), int(m[2])))
		for c in heap["classes"]:
		    counted = rows.get(c["class"].replace("/0x", "+0x"), [])
		    if len(counted) != 1 or counted[0][0] != c["objects"] or re.search("Thread|ReferenceHandler", c["class"]):
		        continue
		    assert counted[0][1] == c["bytes"] or c["class"] == "java.lang.Class", (c, counted)
		    same += 1
		assert same > 100, same
	PYTHON
}

# dump FILE: the heap of JAVA_PID.
dump()
{
	"$JAVA_HOME/bin/jcmd" "$JAVA_PID" GC.heap_dump "$PWD/$1" >jcmd.out || fail "no dump: $(cat jcmd.out)"
	"$JAVA_HOME/bin/jcmd" "$JAVA_PID" GC.class_histogram >histogram || fail "no histogram: $(cat histogram)"
}

# planted REFERENCE JAVA-OPTION...: the program's dump is whole.hprof.
planted()
{
	local reference=$1

	shift
	rm -f whole.hprof
	start_program out "$JAVA" -Xmx128m "$@" -cp "$CLASSES" Holders "$CLASSES"
	go_on
	dump whole.hprof
	end_program
	braid heap whole.hprof --json -n 100000 >whole.json 2>err || fail "$*: $(cat err)"
	holds whole.json "$reference" histogram
}

planted 8 -XX:+UseG1GC -XX:-UseCompressedOops -XX:-UseCompressedClassPointers
planted 4 -XX:+UseSerialGC -XX:+UseCompressedOops

# Compressed, and in files instead of memory: the same.
gzip -c whole.hprof >whole.gz
TMPDIR=$PWD braid heap whole.gz --memory 0 --json -n 100000 | sed 's/whole.gz/whole.hprof/' >other.json
cmp whole.json other.json || fail "another report"
[[ -z $(find . -name 'braid-*') ]] || fail "temporary files are left"

# Text: the suspects first, and the path of one object.
braid heap whole.hprof -n 3 >text
head -n 10 text | finds '^   1  .* java.util.HashMap$Node\[8192\]; held by static Holders$Cache.map$' || fail "suspects: $(cat text)"
finds '^The objects that retain most$' <text || fail "no table: $(cat text)"
ADDRESS=$(sed -n 's/.*\.value: byte\[2500000\] \(0x[0-9a-f]*\)$/\1/p' text | head -n 1)
braid heap whole.hprof --path "$ADDRESS" >path || fail "no path of $ADDRESS"
finds '\.threadLocals: java.lang.ThreadLocal$ThreadLocalMap ' <path || fail "path: $(cat path)"
finds '^    Holders.holdThreadLocal(Holders.java:[0-9]*)$' <path || fail "no stack: $(cat path)"

# refused STATUS WORDS ARGUMENT...: one line (usage errors have more), and no output.
refused()
{
	local status=0 expected=$1 words=$2

	shift 2
	braid heap "$@" >text 2>err || status=$?
	[[ $status -eq $expected && ! -s text ]] || fail "heap $*: status $status: $(cat text err)"
	grep -q "^braid.*$words" err || fail "heap $*: $(cat err)"
}
head -c 1000000 whole.hprof >cut.hprof
refused 1 "cut.hprof: at byte [0-9]*: it is cut" cut.hprof
head -c 100000 whole.gz >cut.gz
refused 1 "cut.gz: its gzip data is damaged or cut" cut.gz
refused 1 "it is no heap dump" "$0"
refused 1 "missing.hprof: No such file" missing.hprof
refused 1 "it is no regular file" /dev/null
refused 1 "whole.hprof: it has no object at 0x1" whole.hprof --path 0x1
refused 2 "'xyz' is no address" whole.hprof --path xyz
refused 2 "--live is for a running JVM" whole.hprof --live
refused 2 "--path is for a heap dump" 1 --path 0x1
TMPDIR=/nonexistent refused 1 "cannot be kept in /nonexistent: .*TMPDIR" whole.hprof --memory 0
