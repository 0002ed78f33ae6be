#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# mounts: measures what it costs a virtual thread to unmount and to mount again, depending on the agent's state in its
# JVM. JDKS (21 25); CARRIERS (1 and all CPUs); ROUNDS (15) and WINDOW_S (0.3) of each. OTHER names another build's
# braid, whose dormant agent is compared, too.
#
# Each state has its own JVM, since some effects of an agent on HotSpot are permanent. The JVMs run in turn while the
# others are stopped, and each time is compared with that of the JVM without an agent in the same turn.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

read -ra jdks <<<"${JDKS:-21 25}"
read -ra carriers <<<"${CARRIERS:-1 $(nproc)}"
rounds=${ROUNDS:-15}
window=${WINDOW_S:-0.3}
states=(none loaded recorded offcpu dormant ${OTHER:+other})
declare -A PIDS TO WHAT=(
	[none]="without an agent"
	[loaded]="with -agentpath, never recorded"
	[recorded]="while it is recorded"
	[offcpu]="the same with -e offcpu"
	[dormant]="after a recording"
	[other]="after one by OTHER"
)

# start STATE JAVA CARRIERS
start()
{
	local state=$1 java=$2 to
	local -a options=("-Djdk.virtualThreadScheduler.parallelism=$3")

	[[ $state != loaded ]] || options+=("-agentpath:$BUILD/libbraid-agent.so")
	rm -f "$TMP/$state.in"
	mkfifo "$TMP/$state.in"
	"$java" "${options[@]}" -cp "$BUILD/bench/java" Throughput mount <"$TMP/$state.in" >"$TMP/$state" 2>"$TMP/$state.err" &
	PIDS[$state]=$!
	STARTED+=("$!")
	exec {to}>"$TMP/$state.in"
	TO[$state]=$to
	wait_for "$state to be warm" ready_or_gone "$state"
	grep -q ready "$TMP/$state" || die "$state: $(tail -n 3 "$TMP/$state.err")"
}

ready_or_gone()
{
	grep -q ready "$TMP/$1" || ! kill -0 "${PIDS[$1]}" 2>/dev/null
}

# record BRAID STATE [OPTION...]
record()
{
	local braid=$1 state=$2

	shift 2
	"$braid" record -q "$@" -o "$TMP/$state.trace" -p "${PIDS[$state]}" 2>"$TMP/record.err" &
	RECORDER=$!
	STARTED+=("$RECORDER")
	wait_for "the recording" joined "$braid"
}

joined()
{
	"$1" ctl "$RECORDER" status 2>/dev/null | grep -c 'JVM .*connected' >/dev/null
}

recorded_once()
{
	record "$1" "$2"
	sleep 0.5
	kill -INT "$RECORDER"
	wait "$RECORDER" || die "the recording failed: $(tail -n 3 "$TMP/record.err")"
}

# turn STATE: adds one line for this window to its output.
turn()
{
	kill -CONT "${PIDS[$1]}"
	sleep 0.05
	echo on >&"${TO[$1]}"
	sleep "$window"
	echo pause >&"${TO[$1]}"
	sleep 0.05
	kill -STOP "${PIDS[$1]}"
}

# ns STATE CARRIERS: per window, of one mount and one unmount
ns()
{
	awk -v carriers="$2" '$1 == "on" { print $2 * carriers / ($3 * 1000) }' "$TMP/$1"
}

# measure JDK CARRIERS
measure()
{
	local java state to i

	java=$(jdk_home "$1")/bin/java
	for state in "${states[@]}"; do
		start "$state" "$java" "$2"
		case $state in
		recorded) record "$BUILD/braid" "$state" ;;
		offcpu) record "$BUILD/braid" "$state" -e offcpu ;;
		dormant) recorded_once "$BUILD/braid" "$state" ;;
		other) recorded_once "$OTHER" "$state" ;;
		esac
		kill -STOP "${PIDS[$state]}"
	done
	for ((i = 0; i < rounds; i++)); do
		for state in "${states[@]}"; do
			turn "$state"
		done
	done
	for state in "${states[@]}"; do
		kill -KILL "${PIDS[$state]}"
		wait "${PIDS[$state]}" 2>/dev/null || true
		to=${TO[$state]}
		exec {to}>&-
	done
	for state in "${states[@]}"; do
		paste <(ns "$state" "$2") <(ns none "$2") | awk '{ print $1 / $2 }' | sort -g >"$TMP/ratios"
		printf '%3s  %8s  %-32s %8.0f %8.2f   %s\n' "$1" "$2" "${WHAT[$state]}" "$(ns "$state" "$2" | median)" \
			"$(median <"$TMP/ratios")" "$(range '%.2f to %.2f' <"$TMP/ratios")"
	done
}

header mounts
echo
echo "ns for one Thread.yield() of a virtual thread, which leaves its carrier and comes back; ratios to the JVM without an agent."
echo "JDK  carriers  agent                                  ns    ratio   smallest to largest"
for jdk in "${jdks[@]}"; do
	for n in "${carriers[@]}"; do
		measure "$jdk" "$n"
	done
done
