#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Dumps from a copy of each installed JDK: VisualVM's library reads them and finds what is there, and they have what
# `jcmd GC.heap_dump` has of the same program. Those of one JDK are compressed, too.
# takes: 120 s
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/dumps.sh"

# one JAVA_HOME
one()
{
	rm -f ./*.hprof*
	start_program out "$1/bin/java" -Xmx256m -cp . HeapShapes "$PWD"
	"$1/bin/jcmd" "$JAVA_PID" GC.run >jcmd.out 2>&1 || fail "$1: $(cat jcmd.out)"
	"$1/bin/jcmd" "$JAVA_PID" GC.heap_dump "$PWD/jcmd.hprof" >jcmd.out 2>&1 || fail "$1: $(cat jcmd.out)"
	dump plain.hprof
	python3 "$TEST_DIR/hprof.py" jcmd.hprof plain.hprof >differences || fail "$1: $(cat differences)"
	read_by_other plain.hprof
	if [[ -z ${COMPRESSED:-} ]]; then
		COMPRESSED=done
		for file in small.hprof.gz smaller.hprof.zst; do
			dump "$file"
			read_by_other "$file"
		done
	fi
	end_program
}

need_reader
"$JAVA_HOME/bin/javac" -nowarn -source 8 -target 8 -d . "$TEST_DIR/HeapShapes.java" &>javac.out || fail "$(cat javac.out)"
on_each_version 8 one
