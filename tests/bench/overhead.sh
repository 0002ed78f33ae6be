#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# overhead: measures how much longer a program takes when braid or another tool records it, and the size of the files.
# PAIRS (8) of each, HZ ("997 99"), WORKLOAD (sat4j9), PEERS ("none tick braid async-profiler jfr perf"); ASPROF is
# async-profiler's directory, library or launcher. Wall and CPU time are the program's own, from its start to its end.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

pairs=${PAIRS:-8}
name=${WORKLOAD:-sat4j9}

header overhead
workload "$name" || exit 1
PLAIN=("${CMD[@]}")

# ---- peers ----

asprof_library()
{
	local at

	for at in "$ASPROF" "$ASPROF/lib/libasyncProfiler.so" "${ASPROF%/*}/../lib/libasyncProfiler.so"; do
		[[ $at != *.so || ! -f $at ]] || { readlink -f "$at" && return; }
	done
	return 1
}

present()
{
	case $1 in
	none | tick | braid) ;;
	async-profiler)
		[[ -n ${ASPROF:-} ]] || { notice "no async-profiler: set ASPROF to compare with it" && return 1; }
		asprof_library >"$TMP/asprof" || { notice "ASPROF=$ASPROF: no libasyncProfiler.so there" && return 1; }
		;;
	jfr)
		"$JAVA" -XX:StartFlightRecording:settings=profile,filename="$TMP/try.jfr" -version >/dev/null 2>&1 ||
			{ notice "no flight recorder in this JDK" && return 1; }
		;;
	perf) command -v perf >/dev/null || { notice "no perf: apt-get install linux-perf" && return 1; } ;;
	*) die "no peer '$1'" ;;
	esac
}

# run_tick HZ FILE TIMES: braid's timer interrupts on every CPU, while it records a sleeping process.
run_tick()
{
	local sleeper recorder status=0

	sleep 86400 &
	sleeper=$!
	"$BUILD/braid" record -q -F "$1" -o "$2" -p "$sleeper" &
	recorder=$!
	STARTED+=("$sleeper" "$recorder")
	wait_for "the recording of nothing" test -s "$2"
	"$BENCH/timed" "$3" "${PLAIN[@]}" || status=$?
	kill -INT "$recorder"
	wait "$recorder" || status=$?
	kill "$sleeper"
	STARTED=()
	return "$status"
}

# run_peer PEER HZ FILE TIMES: the program, recorded into FILE.
run_peer()
{
	local peer=$1 hz=$2 file=$3 times=$4 status=0

	case $peer in
	none) "$BENCH/timed" "$times" "${PLAIN[@]}" ;;
	tick) run_tick "$hz" "$file" "$times" ;;
	braid) braid record -q -F "$hz" -o "$file" -- "$BENCH/timed" "$times" "${PLAIN[@]}" ;;
	async-profiler)
		workload "$name" "-agentpath:$(<"$TMP/asprof")=start,event=cpu,interval=$(calc "1e9 / $hz" %d),jfr,file=$file"
		"$BENCH/timed" "$times" "${CMD[@]}"
		;;
	jfr)
		workload "$name" "-XX:StartFlightRecording:settings=profile,filename=$file"
		"$BENCH/timed" "$times" "${CMD[@]}"
		;;
	perf) perf record -q -e cpu-clock -F "$hz" -g -o "$file" -- "$BENCH/timed" "$times" "${PLAIN[@]}" ;;
	esac >"$TMP/out" 2>&1 || status=$?
	[[ $status -eq 0 && -s $times ]] || die "$peer failed with status $status: $(tail -n 5 "$TMP/out")"
}

# The number of samples in the file, empty when that cannot be determined.
samples_of()
{
	case $1 in
	tick) echo 0 ;;
	braid) info_of "$2" && info "$2" samples.total ;;
	jfr | async-profiler)
		"$JAVA_HOME/bin/jfr" summary "$2" |
			awk '$1 == "jdk.ExecutionSample" || $1 == "jdk.NativeMethodSample" { n += $2 } END { print n + 0 }'
		;;
	perf) perf script -F comm -i "$2" 2>/dev/null | grep -c . || true ;;
	esac
}

# ---- pairs ----

# one_pair PEER HZ OUT: adds "wall-A wall-B wall-ratio cpu-ratio bytes samples" to OUT.
one_pair()
{
	# jfr only reads files with this suffix
	local peer=$1 hz=$2 out=$3 file=$TMP/recorded.jfr bytes=0 samples=0

	run_peer none 0 - "$TMP/a"
	[[ $(awk '{ print $3 }' "$TMP/a") -ne 127 ]] || die "$name cannot be started: ${PLAIN[*]}"
	rm -f "$file"
	run_peer "$peer" "$hz" "$file" "$TMP/b"
	if [[ -e $file ]]; then
		bytes=$(stat -c %s "$file")
		samples=$(samples_of "$peer" "$file")
	fi
	paste -d' ' "$TMP/a" "$TMP/b" | awk -v bytes="$bytes" -v samples="$samples" '
		$3 != $6 { print "bench: the program ended with " $3 ", and recorded with " $6 >"/dev/stderr"; exit 1 }
		{ print $1, $4, $4 / $1, $5 / $2, bytes, samples }' >>"$out"
	if [[ $peer == braid ]]; then
		echo "$(info "$file" overhead.collector_cpu_s) $(info "$file" overhead.bpf_cpu_s)" >>"$out.own"
		info_sum "$file" lost >>"$out.lost"
	fi
}

column()
{
	awk -v n="$1" '{ print $n }' "$2"
}

percent()
{
	awk '{ printf "%.9f\n", ($1 - 1) * 100 }'
}

# row PEER HZ OUT
row()
{
	local peer=$1 hz=$2 out=$3 wall size='-' samples

	wall=$(column 3 "$out" | percent | median)
	samples=$(column 6 "$out" | median)
	[[ $samples == 0 ]] || size=$(awk '$6 > 0 { print $5 / $6 }' "$out" | median | xargs printf '%.1f')
	printf '%-15s %5s %6d %10.3f %9.2f %%  %-18s %8.2f %% %9.0f %13s\n' "$peer" "$hz" "$(wc -l <"$out")" \
		"$(column 1 "$out" | median)" "$wall" "$(column 3 "$out" | percent | range '%.2f to %.2f')" \
		"$(column 4 "$out" | percent | median)" "$samples" "$size"
	[[ $peer == braid ]] || return 0
	echo "braid at $hz Hz: own CPU $(column 1 "$out.own" | median) s, in the kernel $(column 2 "$out.own" | median) s," \
		"lost $(awk '{ n += $1 } END { print n + 0 }' "$out.lost")" >>"$TMP/targets"
	case $hz in
	997) target "$hz" "$wall" 1.5 && echo "target: at most 30 bytes a sample at 997 Hz: $size, $(met "$size <= 30")" ;;
	99) target "$hz" "$wall" 0.5 ;;
	esac >>"$TMP/targets"
}

target()
{
	echo "target: at most $3 % longer at $1 Hz: $(printf %.2f "$2") %, $(met "$2 <= $3")"
}

variants=()
for peer in ${PEERS:-none tick braid async-profiler jfr perf}; do
	present "$peer" || continue
	case $peer in
	none | jfr) variants+=("$peer -") ;; # JFR has a period of its own
	*) for hz in ${HZ:-997 99}; do variants+=("$peer $hz"); done ;;
	esac
done

run_peer none 0 - "$TMP/warm-up"
for ((i = 0; i < pairs; i++)); do
	for v in "${variants[@]}"; do
		read -r peer hz <<<"$v"
		one_pair "$peer" "$hz" "$TMP/$peer.$hz.pairs"
	done
done
: >"$TMP/targets"
echo
echo "$name, each beside a run of its own that is not recorded; medians of ratios. 'none' is the noise: both are not recorded,"
echo "'tick' is the machine's part: as many timer interrupts as for braid, which find nothing to record"
echo "peer               Hz  pairs    plain s   longer by  range in %           CPU more   samples  bytes/sample"
for v in "${variants[@]}"; do
	read -r peer hz <<<"$v"
	row "$peer" "$hz" "$TMP/$peer.$hz.pairs"
done
cat "$TMP/targets"
