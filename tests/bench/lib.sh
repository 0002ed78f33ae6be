# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the benchmarks share. tests/bench/run starts tests/bench/NAME.sh with BUILD and JAVA_HOME set; each sources this
# file. Compared figures come from alternating runs, as medians of ratios, because a shared machine changes its speed
# within minutes.
set -euo pipefail

BENCH=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WORKLOADS_RUN=${BRAID_WORKLOADS_RUN:-$BENCH/../../tools/workloads/run}
JAVA=$JAVA_HOME/bin/java
TMP=$(mktemp -d "${TMPDIR:-/tmp}/braid-bench.XXXXXX")
STARTED=() # processes that end with the benchmark

die()
{
	echo "bench: $*" >&2
	exit 1
}

notice()
{
	echo "note: $*"
}

cleanup()
{
	local pid

	for pid in "${STARTED[@]}"; do
		kill "$pid" 2>/dev/null || true
	done
	rm -rf "$TMP"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
set -E
trap 'echo "bench: ${0##*/}, line $LINENO: failed: $BASH_COMMAND" >&2' ERR

braid()
{
	"$BUILD/braid" "$@"
}

# ---- the machine ----

header()
{
	local model java

	model=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
	java=$("$JAVA" -version 2>&1 | sed -n 's/.*"\(.*\)".*/\1/p' | head -n 1)
	echo "# $1: ${model:-$(uname -m)}, $(nproc) CPUs, $(uname -sr), JDK ${java:-unknown}, $(braid --version | head -n 1)," \
		"load $(cut -d' ' -f1 /proc/loadavg), $(date -u +%FT%RZ)"
}

# ---- figures ----

# The median of the numbers on standard input.
median()
{
	sort -g | awk '{ v[NR] = $1 } END { if (NR) print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# Smallest and largest of the numbers on standard input, in the format FORMAT.
range()
{
	sort -g | awk -v format="$1" 'NR == 1 { low = $1 } { high = $1 } END { if (NR) printf format, low, high }'
}

# calc EXPRESSION [FORMAT]: arithmetic with fractions. A division by zero, or by a missing figure, gives a dash.
calc()
{
	awk -v format="${2:-%.2f}" "BEGIN { printf format, $1 }" 2>/dev/null || printf -- '-'
}

# met CONDITION: whether a target is met
met()
{
	awk "BEGIN { exit !($1) }" 2>/dev/null && echo met || echo MISSED
}

# ---- traces ----

# info_of TRACE: writes the figures of `braid info --json`, one per line, into TRACE.info.
info_of()
{
	braid info --json "$1" | awk -f "$BENCH/json.awk" >"$1.info"
}

# info TRACE KEY: one value, empty when absent. Keys are paths: samples.total, jvms.0.pid.
info()
{
	awk -F'\t' -v key="$2" '$1 == key { print $2 }' "$1.info"
}

# info_sum TRACE PREFIX: the sum of all values below the prefix
info_sum()
{
	awk -F'\t' -v prefix="$2." 'index($1, prefix) == 1 { sum += $2 } END { printf "%d", sum }' "$1.info"
}

# lost_of TRACE: what it has lost, of any kind
lost_of()
{
	info_of "$1"
	info_sum "$1" lost
}

# stat_of TRACE KEY: a statistic of the recording; the last one when there are several
stat_of()
{
	braid script --raw "$1" | awk -v key="key=\"$2\"" '$1 == "stat" && $0 ~ key " " { sub(/.*value=/, ""); value = $1 }
		END { print value }'
}

# ---- workloads ----

# workload NAME [JAVA-OPTION...]: sets CMD to the command, and prepares the workload if necessary. Fails with a notice.
workload()
{
	local name=$1 quoted

	shift
	[[ -x $WORKLOADS_RUN ]] || die "no $WORKLOADS_RUN; set BRAID_WORKLOADS_RUN to the workload runner"
	if ! "$WORKLOADS_RUN" have "$name" && ! "$WORKLOADS_RUN" setup "$name" >&2; then
		notice "$name is left out: '$WORKLOADS_RUN setup $name' failed"
		return 1
	fi
	quoted=$("$WORKLOADS_RUN" print "$name" -- "$@") || return 1
	eval "CMD=($quoted)"
}

# start_load NAME: sends requests to a server until stop_load.
start_load()
{
	"$WORKLOADS_RUN" load "$1" >/dev/null 2>&1 &
	LOAD=$!
	STARTED+=("$LOAD")
}

stop_load()
{
	kill "$LOAD" 2>/dev/null || true
	wait "$LOAD" 2>/dev/null || true
}

# jdk_home VERSION: JAVA_HOME of that JDK, which is installed if it is missing.
jdk_home()
{
	if [[ $("$JAVA_HOME/bin/java" -version 2>&1 | head -n 1) == *"\"$1."* ]]; then
		echo "$JAVA_HOME"
	else
		"$BENCH/../../tools/get-jdk" "$1"
	fi
}

# ---- the kernel's accounting ----

# programs_of PID: writes the ids of its BPF programs into TMP/ids. Other recorders may run.
programs_of()
{
	local ids

	ids=$(sed -n 's/^prog_id:[^0-9]*//p' /proc/"$1"/fdinfo/* 2>/dev/null || true)
	[[ -z $ids ]] || echo "$ids" >"$TMP/ids"
}

# account_of PROGRAM IDS: runs and nanoseconds of the programs with these ids, from program_time's TMP/account.
account_of()
{
	awk -v name="$1" -v ids=" $(xargs <"$2") " '$1 == name && index(ids, " " $4 " ") { runs += $2; ns += $3 }
		END { print runs + 0, ns + 0 }' "$TMP/account"
}

# start_account PROGRAM...: begins ACCOUNT, which writes what runs of these programs take into TMP/account.
start_account()
{
	"$BUILD/bench/program_time" "$@" >"$TMP/account" &
	ACCOUNT=$!
	STARTED+=("$ACCOUNT")
	wait_for "the kernel's accounting" grep -q "^ready" "$TMP/account"
}

# record_accounted WHAT HZ SECONDS TRACE COMMAND...: records a program that prints "ready"; then account_of on_sample says
# what its samples cost.
record_accounted()
{
	local what=$1 hz=$2 seconds=$3 trace=$4 program recorder

	shift 4
	"$@" >"$TMP/program" 2>&1 &
	program=$!
	STARTED=("$program")
	start_account on_sample
	wait_for "the program" grep -q "^ready" "$TMP/program"
	"$BUILD/braid" record -q -F "$hz" -d "$seconds" -o "$trace" -p "$program" >"$TMP/out" 2>&1 &
	recorder=$!
	STARTED+=("$recorder")
	while kill -0 "$recorder" 2>/dev/null; do
		programs_of "$recorder"
		sleep 0.2
	done
	wait "$recorder" || die "$what: recording failed: $(tail -n 3 "$TMP/out")"
	kill "$program" "$ACCOUNT"
	wait "$program" "$ACCOUNT" 2>/dev/null || true
	STARTED=()
}

# ---- waiting ----

# wait_for WHAT COMMAND...: waits until the command succeeds.
wait_for()
{
	local what=$1 end=$((SECONDS + 120))

	shift
	until "$@"; do
		[[ $SECONDS -lt $end ]] || die "waited in vain for $what"
		sleep 0.05
	done
}
