#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# heapdump: how long a program stands still for a dump of its heap, MIB (700) of KINDS (map list arrays), with COLLECTORS
# (Serial Parallel G1 Z Shenandoah) of the JDK: by braid (a copy, or the JVM), by an agent that goes through all references
# with JVM TI, and by jcmd. The time is that of a thread of the program, so other programs make it longer. WAYS (braid
# follow jcmd) chooses, DUMPS (/var/tmp) is where the files go.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

mib=${MIB:-700}
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

# row WAY ANNOUNCED-MS STOOD-MS PEAK-MIB
row()
{
	printf '%-10s %-7s %-34s %12s %12s %9s\n' "$collector" "$kind" "$@"
}

# The time that braid announces, what the program stood still for, and braid's memory.
by_braid()
{
	local announced way mib

	mib=$(python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[2:], check=True, stderr=open(sys.argv[1], "w"))
print("%.0f" % (resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024))' "$TMP/said" \
		"$BUILD/braid" heap "$PROGRAM" --dump "$dumps/braid.hprof" --max-pause 1h) || die "$(cat "$TMP/said")"
	announced=$(sed -n 's/.* to stand still for \(up to \)\?\([0-9.]* [a-z]*\).*/\2/p' "$TMP/said" | head -n 1)
	way="braid, copy"
	! grep -q 'the JVM writes it' "$TMP/said" || way="braid, the JVM writes"
	ask stop
	row "$way" "$(calc "$(ms "$announced")" %.0f)" "$(calc "${ANSWER#stop }" %.0f)" "$mib"
}

by_jcmd()
{
	"$JAVA_HOME/bin/jcmd" "$PROGRAM" GC.heap_dump -all "$dumps/jcmd.hprof" >"$TMP/out" 2>&1 || die "$(cat "$TMP/out")"
	ask stop
	row "jcmd GC.heap_dump" - "$(calc "${ANSWER#stop }" %.0f)" -
}

by_agent()
{
	local before after took objects

	before=$(awk '/^VmRSS/ { print $2 }' "/proc/$PROGRAM/status")
	ask follow
	after=$(awk '/^VmHWM/ { print $2 }' "/proc/$PROGRAM/status")
	read -r _ took objects _ <<<"$ANSWER"
	row "FollowReferences, $objects objects" - "$(calc "$took" %.0f)" "+$(calc "($after - $before) / 1024" %.0f)"
	ask stop
}

one()
{
	local log=$TMP/program

	rm -f "$TMP/in" "$TMP/out.pipe"
	mkfifo "$TMP/in" "$TMP/out.pipe"
	"$JAVA" "-XX:+Use${collector}GC" -Xmx$((mib * 2))m -cp "$BUILD/bench/java" HeapFill "$kind" "$mib" \
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

header heapdump
echo
echo "$mib MiB of live heap; the program stands still for ms, braid takes MiB; an agent's tags take MiB in the program"
printf '%-10s %-7s %-34s %12s %12s %9s\n' collector heap way "announced ms" "stood still" MiB
for collector in ${COLLECTORS:-Serial Parallel G1 Z Shenandoah}; do
	for kind in ${KINDS:-map list arrays}; do
		one
	done
done
