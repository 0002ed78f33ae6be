#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Dumps from a copy of each installed JDK: VisualVM's library reads them and finds what is there, and they have what
# `jcmd GC.heap_dump` has of the same program, with Shenandoah as well.
# class: long
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/dumps.sh"

# same JAVA_HOME JAVA-OPTION...: plain.hprof of a program that goes on.
same()
{
	local home=$1

	rm -f ./*.hprof*
	start_program out "$home/bin/java" -Xmx256m "${@:2}" -cp . HeapShapes "$PWD"
	"$home/bin/jcmd" "$JAVA_PID" GC.run >jcmd.out 2>&1 || fail "$*: $(cat jcmd.out)"
	"$home/bin/jcmd" "$JAVA_PID" GC.heap_dump "$PWD/jcmd.hprof" >jcmd.out 2>&1 || fail "$*: $(cat jcmd.out)"
	dump plain.hprof
	python3 "$TEST_DIR/hprof.py" jcmd.hprof plain.hprof >differences || fail "$*: $(cat differences)"
}

# one JAVA_HOME
one()
{
	same "$1"
	read_by_other plain.hprof
	end_program
	if "$1/bin/java" "${SHENANDOAH[@]}" -version &>version; then
		same "$1" "${SHENANDOAH[@]}"
		end_program
	fi
}

SHENANDOAH=(-XX:+UnlockExperimentalVMOptions -XX:+UseShenandoahGC)
need_reader
"$JAVA_HOME/bin/javac" -nowarn -source 8 -target 8 -d . "$TEST_DIR/HeapShapes.java" &>javac.out || fail "$(cat javac.out)"
on_each_version 9 one
