#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A heap dump has what only frames of virtual threads refer to that are not mounted, whether a collection has gone through the frames or not,
# and `braid heap FILE` says that these threads hold it.
# shellcheck disable=SC2016 # names of classes have dollar signs
source "$(dirname "$0")/../lib.sh"

need_jdk 21
export PYTHONPATH=$PYTHONPATH:$TEST_DIR
"$JDK/bin/javac" --release 21 -d . "$TEST_DIR/java21/HeapFrozen.java"

# frozen CALLS [gc]: as the program's arguments.
frozen()
{
	rm -f frozen.hprof
	start_program out "$JDK/bin/java" -Xmx128m -cp . HeapFrozen "$@"
	braid heap "$JAVA_PID" --dump frozen.hprof 2>err || fail "$*: $(cat err)"
	end_program
	! finds warning <err || fail "$*: $(cat err)"
	python3 - >address <<-'PYTHON' || fail "$*: see above"
		from hprof import Dump

		d = Dump("frozen.hprof")
		held = {i: {name: v for _, name, _, v in d.fields(i)} for i in d.instances if d.class_of(i) == "HeapFrozen$Held"}
		assert sorted(f["number"] for f in held.values()) == list(range(200)), sorted(f["number"] for f in held.values())
		assert all(d.values[f["bytes"]][1] == 10000 for f in held.values())
		texts = {d.string(i) for i in d.instances if d.class_of(i) == "java/lang/String"}
		assert {f"only a thread {n}" for n in range(200)} <= texts
		print(hex(next(iter(held))))
	PYTHON
	braid heap frozen.hprof --path "$(cat address)" >path || fail "$*: no path"
	finds '\.tail: jdk.internal.vm.StackChunk ' <path || fail "$*: $(cat path)"
	finds '\.<frames>: java.lang.Object\[[0-9]*\] ' <path || fail "$*: $(cat path)"
	finds '\]: HeapFrozen$Held ' <path || fail "$*: $(cat path)"
}

frozen 0
frozen 20000 gc
