#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# difference: how often `braid diff` reports something between two recordings of the same program, and how often it finds a
# method that makes the program slower. Each recording is of another process. PAIRS (20) without a difference, PLANTED (10) of
# each of PERCENTS (5), SECONDS_EACH (5), HZ (997). KEEP: a folder for the traces.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

pairs=${PAIRS:-20}
planted=${PLANTED:-10}
seconds=${SECONDS_EACH:-5}
hz=${HZ:-997}
dir=${KEEP:-$TMP}

# recording NAME PERCENT
recording()
{
	local pid

	"$JAVA" -Xmx256m -XX:CompileCommand=quiet '-XX:CompileCommand=dontinline,Planted.*' -cp "$BUILD/bench/java" Planted "$2" >"$TMP/out" 2>&1 &
	pid=$!
	STARTED+=("$pid")
	until grep -q ready "$TMP/out"; do
		kill -0 "$pid" 2>/dev/null || die "the program has ended: $(cat "$TMP/out")"
		sleep 0.1
	done
	braid record -q -F "$hz" -d "$seconds" -o "$dir/$1.trace" -p "$pid" || die "no recording"
	kill "$pid"
	wait "$pid" 2>/dev/null || true
}

# found BEFORE AFTER: the methods that differ, by the traces' names
found()
{
	braid diff --json "$dir/$1.trace" "$dir/$2.trace" >"$TMP/diff.json"
	python3 -c 'import json, sys
print(" ".join(r["method"].replace(" ", "_") for r in json.load(open(sys.argv[1]))["rows"] if r["differs"]))' "$TMP/diff.json"
}

header difference
echo
echo "recordings of $seconds s at $hz Hz, each of a process of its own"
alarms=0
for ((i = 1; i <= pairs; i++)); do
	recording "before$i" 0
	recording "same$i" 0
	names=$(found "before$i" "same$i")
	[[ -z $names ]] || echo "pair $i, without a difference: $names"
	alarms=$((alarms + (${#names} > 0)))
done
printf '%-28s %5d pairs   %3d show something   %s\n' "without a difference" "$pairs" "$alarms" "$(met "$alarms * 20 <= $pairs") (1 in 20 at most)"
for percent in ${PERCENTS:-5}; do
	hits=0
	others=0
	for ((i = 1; i <= planted; i++)); do
		recording "slower$i" "$percent"
		names=$(found "before$(((i - 1) % pairs + 1))" "slower$i")
		[[ " $names " != *" Planted.changed "* ]] || hits=$((hits + 1))
		[[ -z ${names//Planted.changed/} || $names == Planted.changed ]] || others=$((others + 1))
	done
	printf '%-28s %5d pairs   %3d find the method   %3d find others, too   %s\n' "slower by $percent % in one method" "$planted" "$hits" \
		"$others" "$(met "$hits == $planted") (all)"
done
