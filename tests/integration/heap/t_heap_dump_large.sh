#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A dump of a heap that is too large for a reader in Python has what `jcmd GC.heap_dump` has of the same program, and takes
# 256 MiB of braid's memory at most: of MIB (128) with COLLECTORS (G1), with all JDKs or with JDKS. MIB=2048 takes minutes for each.
# class: long
# takes: 300 s
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/dumps.sh"

MIB=${MIB:-128}

# counted DUMP: what can be reached in it, in DUMP.counts.
counted()
{
	./hprof_counts "$1" >"$1.counts" || fail "$1 cannot be counted"
	rm "$1"
}

# same JAVA_HOME COLLECTOR
same()
{
	local home=$1 kib writer=braid

	start_program out "$home/bin/java" "-XX:+Use$2GC" "-Xmx$((MIB * 2))m" -cp . HeapLarge "$MIB"
	"$home/bin/jcmd" "$JAVA_PID" GC.run >jcmd.out 2>&1 || fail "$*: $(cat jcmd.out)"
	"$home/bin/jcmd" "$JAVA_PID" GC.heap_dump "$PWD/jcmd.hprof" >jcmd.out 2>&1 || fail "$*: $(cat jcmd.out)"
	counted jcmd.hprof
	/usr/bin/time -o memory -f %M "$BUILD/braid" heap "$JAVA_PID" --dump braid.hprof --max-pause 1h 2>said || fail "$*: $(cat said)"
	end_program
	counted braid.hprof
	read -r kib <memory
	echo "JDK $(version_of "$home"), $2: $(tail -n 1 said); braid took $((kib / 1024)) MiB"
	[[ $kib -le $((256 * 1024)) ]] || fail "$*: braid took $kib KiB"
	! grep -q 'the JVM has written' said || writer=JVM
	python3 "$TEST_DIR/hprof.py" --counts jcmd.hprof.counts braid.hprof.counts "$writer" >differences || fail "$*: $(cat differences)"
	cat differences
}

# one JAVA_HOME
one()
{
	local collector

	[[ " ${JDKS:-$(version_of "$1")} " == *" $(version_of "$1") "* ]] || return 0
	for collector in ${COLLECTORS:-G1}; do
		same "$1" "$collector"
	done
}

[[ $(free -m | awk '/^Mem/ { print $7 }') -ge $((MIB * 5)) && $(df -m --output=avail . | tail -n 1) -ge $((MIB * 3)) ]] ||
	skip "too little memory or disk for $MIB MiB of objects"
cc -O2 -o hprof_counts "$TEST_DIR/hprof_counts.c"
"$JAVA_HOME/bin/javac" -nowarn -source 8 -target 8 -d . "$TEST_DIR/HeapLarge.java" &>javac.out || fail "$(cat javac.out)"
on_each_version 17 one
