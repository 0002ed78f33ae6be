#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A heap dump by a copy has what `jcmd GC.heap_dump` has of the same program: objects, references, roots, stacks. VisualVM's
# library finds the same in it, also in compressed ones. Neither the copy nor a part of a file stays, however it ends.
# class: long
# takes: 25 s
# shellcheck disable=SC2016 # names of classes have dollar signs
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/dumps.sh"

need_reader
start_program out "$JAVA" -Xmx256m -cp "$CLASSES" HeapShapes "$CLASSES"
"$JAVA_HOME/bin/jcmd" "$JAVA_PID" GC.run >jcmd.out 2>&1 || fail "$(cat jcmd.out)" # its own dump is preceded by a collection, too
"$JAVA_HOME/bin/jcmd" "$JAVA_PID" GC.heap_dump "$PWD/jcmd.hprof" >jcmd.out 2>&1 || fail "$(cat jcmd.out)"
dump plain.hprof
[[ $(stat -c %a plain.hprof) == 600 ]] || fail "others can read it: $(stat -c %a plain.hprof)"
python3 "$TEST_DIR/hprof.py" jcmd.hprof plain.hprof >differences || fail "$(cat differences)"

# By another way, the same content.
export PYTHONPATH=$PYTHONPATH:$TEST_DIR
dump small.hprof.gz
dump smaller.hprof.zst
for file in plain.hprof small.hprof.gz smaller.hprof.zst; do
	read_by_other "$file"
done
python3 - <<-'PYTHON' || fail "what the files have: see above"
	from hprof import Dump

	def check(what, ok):
	    if not ok:
	        raise SystemExit("false: " + what)

	for path in ("plain.hprof", "small.hprof.gz", "smaller.hprof.zst"):
	    d = Dump(path)
	    shapes = next(c for c in d.classes.values() if c.name == "HeapShapes")
	    get = lambda name: shapes.statics[name][1]
	    check("numbers of classes", get("NUMBER") == 0x1122334455667788 and get("NODES") == 3000)
	    check("strings", d.string(get("text")) == "a text \u20ac")
	    check("a large array", len(d.arrays[get("table")][1]) == 100000)
	    check("a larger one", d.values[get("big")][1:] == (3 << 20, bytes((3 << 20) - 1) + b"\x4d"))
	    check("weak references are cleared", d.get(get("weak"), "referent") == 0)
	    check("soft ones are not", d.values[d.get(get("soft"), "referent")][1] == 321)
	    check("a class", d.classes[get("foreign")].name == "HeapShapes$Loaded")
	    check("its loader", d.class_of(d.classes[get("foreign")].loader) == "java/net/URLClassLoader")
	    node, n = get("first"), 2999
	    while node:
	        f = {name: v for _, name, _, v in d.fields(node)}
	        short = lambda v, bits: (v + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
	        check(f"values of node {n}", (f["z"], f["b"], f["c"], f["s"], f["i"], f["j"], f["f"], f["d"], f["o"]) == (
	            n % 2 == 1, short(n, 8), n, short(-n, 16), n * 1000, n * 1000000007, n / 4, n / 8, 0))
	        check(f"class of node {n}", d.class_of(node) == ("HeapShapes$Node" if n % 3 else "HeapShapes$Named"))
	        if n % 3 == 0:
	            check(f"fields of its class", d.string(f["name"]) == f"named {n}" and d.values[f["data"]][1] == n % 7)
	        node, n = f["next"], n - 1
	    check("all nodes", n == -1)
	    for i in range(3):
	        stack = [f[:2] for f in d.stacks()[f"sleeper \u00e9{i}"]]
	        check("stacks of threads", stack[:2] == [("java/lang/Thread", "sleep"), ("HeapShapes", "park")])
PYTHON
braid heap "$JAVA_PID" --dump - 2>err | gzip -1 >piped.hprof.gz || fail "standard output: $(cat err)"
python3 "$TEST_DIR/hprof.py" jcmd.hprof piped.hprof.gz >differences || fail "standard output: $(cat differences)"

# refused WORDS FILE OPTION...: one line, and no file.
refused()
{
	local words=$1 status=0 before

	shift
	before=$(ls)
	braid heap "$JAVA_PID" --dump "$@" >text 2>err || status=$?
	[[ $status -eq 1 && ! -s text ]] || fail "$*: status $status: $(cat text err)"
	grep -q "^braid: .*$words" err || fail "$*: $(cat err)"
	[[ $(ls) == "$before" ]] || fail "$*: left behind: $(ls)"
	wait_for "the end of the copy" no_copies
}
touch text err
refused "plain.hprof exists" plain.hprof
refused "No such file" nowhere/x.hprof
refused "is not dumped: to copy .* is expected to take .*, and --max-pause allows 1 ns; .*--force" x.hprof --max-pause 1ns
(ulimit -f 4096 && refused "cannot write" x.hprof)

# A killed braid takes the copy with it: the pipe keeps it from ending by itself.
mkfifo pipe
"$BUILD/braid" heap "$JAVA_PID" --dump - >pipe 2>err &
exec {READER}<pipe
wait_for "a copy" has_copy
kill -KILL $!
wait_for "the end of the copy" no_copies
exec {READER}<&-

# One that is interrupted leaves no file.
"$BUILD/braid" heap "$JAVA_PID" --dump "$PWD/x.hprof" 2>err &
BRAID_PID=$!
wait_for "a file" test -e x.hprof
kill -INT "$BRAID_PID"
wait_end "$BRAID_PID" "braid"
[[ $STATUS -eq 1 && ! -e x.hprof ]] || [[ $STATUS -eq 0 && -e x.hprof ]] || fail "interrupted: status $STATUS: $(ls; cat err)"
wait_for "the end of the copy" no_copies

# The copy ends with the JVM.
"$BUILD/braid" heap "$JAVA_PID" --dump - >pipe 2>err &
exec {READER}<pipe
wait_for "a copy" has_copy
COPY=$(copies)
end_program
wait_for "the end of the copy" gone_or_zombie "$COPY"
exec {READER}<&-
wait_end $! "braid"
[[ $STATUS -eq 1 ]] || fail "the JVM has ended: status $STATUS: $(cat err)"
grep -q "^braid: process $JAVA_PID: its heap is not dumped: the copy of process .* ended before it was read" err || fail "$(cat err)"
