# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# For tests of dumps from a copy: one that is complete, and a reader that is not braid's.

READER_JAR=/usr/share/visualvm/visualvm/modules/org-graalvm-visualvm-lib-jfluid-heap.jar

# The children of the program: a copy would be one.
copies()
{
	cat "/proc/$JAVA_PID"/task/*/children
}

no_copies()
{
	[[ -z $(copies) ]]
}

has_copy()
{
	[[ -n $(copies) ]]
}

# dump FILE OPTION...: a dump; what braid says is in said.
dump()
{
	braid heap "$JAVA_PID" --dump "$@" 2>said || fail "braid heap --dump $*: $(cat said)"
	grep -q '^braid: the JVM has .* in memory: it is expected to stand still for ' said || fail "no estimate: $(cat said)"
	grep -q "^braid: process $JAVA_PID: [0-9]* objects, .* classes in $1, .*; it stood still for " said ||
		fail "no result: $(cat said)"
	[[ $(wc -l <said) -eq 2 ]] || fail "more words: $(cat said)"
	wait_for "the end of the copy" no_copies
}

# need_reader: compiles the foreign reader.
need_reader()
{
	[[ -e $READER_JAR ]] || skip "VisualVM is not installed (the package visualvm)"
	need_jdk 11
	READER_JAVA=$JDK/bin/java
	"$JDK/bin/javac" -cp "$READER_JAR" -d reader "$TEST_DIR/reader/HeapReader.java" || fail "the reader does not compile"
}

# read_by_other DUMP: VisualVM's library finds in it what hprof.py finds. The library keeps files beside the dump, and
# reads no compressed one.
read_by_other()
{
	local dir=$1.dir command=cat

	[[ $1 != *.gz ]] || command="gzip -dc"
	[[ $1 != *.zst ]] || command="zstd -dcq"
	mkdir "$dir"
	$command <"$1" >"$dir/x.hprof" || fail "$1: cannot be decompressed"
	"$READER_JAVA" -cp "$READER_JAR:reader" HeapReader "$dir/x.hprof" >"$dir/found" || fail "$1: VisualVM does not read it"
	PYTHONPATH=$PYTHONPATH:$TEST_DIR python3 "$TEST_DIR/reader/compare.py" "$dir/x.hprof" "$dir/found" >differences ||
		fail "$1: $(cat differences)"
	rm -r "$dir"
}
