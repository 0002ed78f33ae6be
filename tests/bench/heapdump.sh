#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# heapdump: how long a program stands still for a dump of its heap, MIB (2048) of KINDS (map list arrays; linked and bytes are
# others), with COLLECTORS (Serial Parallel G1 Z Shenandoah) of JDKS (that of JAVA_HOME): by braid (a copy, or the JVM), by an
# agent that goes through all references with JVM TI, and by jcmd. WAYS (braid follow jcmd) chooses, and may have a way
# several times. A thread of the program measures it, so other programs make it longer. DUMPS (/var/tmp) is where the files go.
# Targets: a copy stops the program for at most 100 ms, the JVM's own dump for the time that is announced, within 30 %, and
# braid takes at most 256 MiB.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

mib=${MIB:-2048}
ways=${WAYS:-braid follow jcmd}
dumps=$(mktemp -d "${DUMPS:-/var/tmp}/braid-bench.XXXXXX")
trap 'rm -rf "$dumps"; cleanup' EXIT

# ms TEXT: "1.20 s", "31.70 ms" as milliseconds
ms()
{
	awk '{ print $2 == "s" ? $1 * 1000 : $2 == "min" ? $1 * 60000 : $2 == "us" ? $1 / 1000 : $1 }' <<<"$1"
}

# ask COMMAND: the program's answer
ask()
{
	echo "$1" >&"$IN"
	read -r ANSWER <&"$OUT"
}

# row WAY ANNOUNCED-MS SAID-MS STOOD-MS SECONDS MIB
row()
{
	printf '%-3s %-10s %-7s %-34s %12s %8s %12s %8s %7s\n' "$jdk" "$collector" "$kind" "$@"
}

# verdict WHAT CONDITION
verdict()
{
	echo "target: $1: JDK $jdk, $collector, $kind: $(met "$2")" >>"$TMP/verdicts"
}

# The times that braid announces and says afterwards, what the program stood still for, and braid's memory.
by_braid()
{
	local announced said stood seconds kib way="braid, copy"

	/usr/bin/time -o "$TMP/time" -f '%e %M' "$BUILD/braid" heap "$PROGRAM" --dump "$dumps/braid.hprof" --max-pause 1h \
		2>"$TMP/said" || die "$(cat "$TMP/said")"
	announced=$(ms "$(sed -n 's/.* to stand still for \(up to \)\?\([0-9.]* [a-z]*\).*/\2/p' "$TMP/said" | head -n 1)")
	said=$(ms "$(sed -n 's/.*\(stood still for\( at most\)\?\|, in\) \([0-9.]* [a-z]*\).*/\3/p' "$TMP/said" | tail -n 1)")
	read -r seconds kib <"$TMP/time"
	ask stop
	stood=${ANSWER#stop }
	if grep -q 'the JVM writes it' "$TMP/said"; then
		way="braid, the JVM writes"
		verdict "announced $(calc "$announced" %.0f) ms, stood still for $(calc "$stood" %.0f) ms, within 30 %" \
			"$stood <= $announced * 1.3 && $stood >= $announced * 0.7"
	else
		verdict "a copy stops the program for at most 100 ms: $(calc "$stood" %.0f) ms" "$stood <= 100"
	fi
	verdict "braid takes at most 256 MiB: $(calc "$kib / 1024" %.0f) MiB" "$kib <= 256 * 1024"
	row "$way" "$(calc "$announced" %.0f)" "$(calc "$said" %.0f)" "$(calc "$stood" %.0f)" "$seconds" \
		"$(calc "$kib / 1024" %.0f)"
}

by_jcmd()
{
	local start=$EPOCHREALTIME

	"$JDK_HOME/bin/jcmd" "$PROGRAM" GC.heap_dump -all "$dumps/jcmd.hprof" >"$TMP/out" 2>&1 || die "$(cat "$TMP/out")"
	ask stop
	row "jcmd GC.heap_dump" - - "$(calc "${ANSWER#stop }" %.0f)" "$(calc "$EPOCHREALTIME - $start")" -
}

by_agent()
{
	local before after took objects

	before=$(awk '/^VmRSS/ { print $2 }' "/proc/$PROGRAM/status")
	ask follow
	after=$(awk '/^VmHWM/ { print $2 }' "/proc/$PROGRAM/status")
	read -r _ took objects _ <<<"$ANSWER"
	row "FollowReferences, $objects objects" - - "$(calc "$took" %.0f)" - "+$(calc "($after - $before) / 1024" %.0f)"
	ask stop
}

one()
{
	local log=$TMP/program

	rm -f "$TMP/in" "$TMP/out.pipe"
	mkfifo "$TMP/in" "$TMP/out.pipe"
	"$JDK_HOME/bin/java" "-XX:+Use${collector}GC" -Xmx$((mib * 2))m -cp "$BUILD/bench/java" HeapFill "$kind" "$mib" \
		"$BUILD/bench/libheapwalk.so" <"$TMP/in" >"$TMP/out.pipe" 2>"$log" &
	PROGRAM=$!
	STARTED=("$PROGRAM")
	exec {IN}>"$TMP/in" {OUT}<"$TMP/out.pipe"
	read -r ANSWER <&"$OUT" || die "$collector: $(cat "$log")"
	sleep 1
	ask stop
	for way in $ways; do
		case $way in
		braid) by_braid ;;
		follow) by_agent ;;
		jcmd) by_jcmd ;;
		*) die "WAYS: $way" ;;
		esac
		rm -f "$dumps"/*
	done
	exec {IN}>&- {OUT}<&-
	kill "$PROGRAM" 2>/dev/null || true
	wait "$PROGRAM" 2>/dev/null || true
	STARTED=()
}

# JDK: the version of JAVA_HOME's, for the table
this_jdk()
{
	"$JAVA" -version 2>&1 | sed -n 's/.*"\(1\.\)\?\([0-9]*\).*/\2/p' | head -n 1
}

header heapdump
echo
echo "$mib MiB of live heap; the program stands still for ms, by what braid announces, what it says, and what a thread sees;"
echo "braid takes s and MiB; an agent's tags take MiB in the program"
printf '%-3s %-10s %-7s %-34s %12s %8s %12s %8s %7s\n' JDK collector heap way "announced ms" "said ms" "stood still" s MiB
for jdk in ${JDKS:-$(this_jdk)}; do
	JDK_HOME=$(jdk_home "$jdk")
	for collector in ${COLLECTORS:-Serial Parallel G1 Z Shenandoah}; do
		for kind in ${KINDS:-map list arrays}; do
			one
		done
	done
done
[[ ! -e $TMP/verdicts ]] || cat "$TMP/verdicts"
