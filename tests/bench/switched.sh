# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What benchmarks share that switch something on and off while one program runs and counts its work. Each time with it
# is compared with the times without it before and after, so that other activity on the machine counts on both sides.
# shellcheck source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# ---- the program ----

# start_counting NAME COMMAND...: starts a program that obeys say(); its pid is in PROGRAM.
start_counting()
{
	local name=$1

	shift
	rm -f "$TMP/in" "$TMP/out"
	mkfifo "$TMP/in"
	: >"$TMP/out"
	"$@" <"$TMP/in" >"$TMP/out" 2>"$TMP/err" &
	PROGRAM=$!
	STARTED+=("$PROGRAM")
	exec {TO}>"$TMP/in"
	wait_for "$name to be warm" ready_or_gone
	grep -q ready "$TMP/out" || die "$name: $(tail -n 3 "$TMP/err")"
}

# start_program NAME JAVA-OPTION...: the same with Throughput.java. PREFIX is a command in front of it.
start_program()
{
	local name=$1

	shift
	# shellcheck disable=SC2086 # words
	start_counting "$name" ${PREFIX:-} "$JAVA" "$@" -cp "$BUILD/bench/java" Throughput "$name"
}

ready_or_gone()
{
	grep -q ready "$TMP/out" || ! kill -0 "$PROGRAM" 2>/dev/null
}

end_program()
{
	exec {TO}>&-
	wait "$PROGRAM" || die "the program failed: $(tail -n 3 "$TMP/err")"
}

say()
{
	echo "$1" >&"$TO"
}

# ---- recordings ----

listens()
{
	braid ctl "$RECORDER" status >"$TMP/status" 2>/dev/null && { [[ -z $1 ]] || grep -q "JVM .*connected" "$TMP/status"; }
}

# start_recording WAIT-FOR-AGENT OPTION...
start_recording()
{
	local agent=$1

	shift
	"$BUILD/braid" record -q -o "$TMP/trace" "$@" 2>"$TMP/record.err" &
	RECORDER=$!
	STARTED+=("$RECORDER")
	wait_for "the recording ($*)" listens "$agent"
}

end_recording()
{
	kill -INT "$RECORDER"
	wait "$RECORDER" || die "the recording failed: $(tail -n 3 "$TMP/record.err")"
}

# ---- figures ----

# ratios WITHOUT WITH: the work per second in times named WITH, divided by that in the times named WITHOUT before and
# after, one a line
ratios()
{
	awk -v without="$1" -v with="$2" '$1 == with || $1 == without { rate = $3 / $2
		if ($1 == without && on) { if (off + rate > 0) print on / ((off + rate) / 2); on = 0 }
		if ($1 == with) on = rate; else off = rate }' "$TMP/out"
}

# quantile P of sorted numbers
quantile()
{
	awk -v p="$1" '{ v[NR] = $1 } END { if (!NR) exit 1; x = 1 + p * (NR - 1); i = int(x); f = x - i
		print v[i] + (i < NR ? f * (v[i + 1] - v[i]) : 0) }'
}

# slower P: percent, from the quantile P of the remaining ratio
slower()
{
	sort -g "$TMP/ratios" | quantile "$1" | awk '{ printf "%.2f", (1 - $1) * 100 }'
}

# median_interval: of slower 0.5, percent: contains the true one in 95 of 100 runs, whatever the distribution
median_interval()
{
	local reach

	reach=$(calc "0.98 / sqrt($(wc -l <"$TMP/ratios"))" %.4f)
	echo "$(slower "$(calc "0.5 + $reach" %.4f)") to $(slower "$(calc "0.5 - $reach" %.4f)")"
}
