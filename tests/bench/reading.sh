#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# reading: how fast traces are read, in CPU seconds of one thread. First a long one of a large machine (CPUS 64, SECONDS_LONG 3600,
# HZ 99, STACKS 200000): report, a range of ten seconds, collapsed stacks. Then WINDOW_S (15) of a program (WORKLOAD closure,
# SHORT_HZ 1999): what `perf script` and `jfr print` take for theirs. The start of the JVM that runs jfr does not count.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

window=${WINDOW_S:-15}
short_hz=${SHORT_HZ:-1999}
trace=$TMP/long.trace

# measure COMMAND...: "CPU-seconds peak-MiB"
measure()
{
	python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("%.3f %.0f" % (used.ru_utime + used.ru_stime, used.ru_maxrss / 1024))' "$@"
}

# line NAME SAMPLES COMMAND...: CPU_S gets its CPU seconds, RATE the samples a second
line()
{
	local name=$1 samples=$2 mib

	shift 2
	read -r CPU_S mib < <(measure "$@")
	RATE=$(calc "$samples / $CPU_S" %.0f)
	printf '%-32s %10d %9.2f %9d %12d\n' "$name" "$samples" "$CPU_S" "$mib" "$RATE"
}

header reading
echo
printf '%-32s %10s %9s %9s %12s\n' "" samples "CPU s" "peak MiB" "samples/s"
samples=$("$BUILD/bench/longtrace" "$trace" "${CPUS:-64}" "${SECONDS_LONG:-3600}" "${HZ:-99}" "${STACKS:-200000}" | cut -d' ' -f1)
middle=$((${SECONDS_LONG:-3600} / 2))
line "long: report" "$samples" "$BUILD/braid" report "$trace"
line "long: report of 10 s" "$samples" "$BUILD/braid" report --from "$middle" --to $((middle + 10)) "$trace"
line "long: collapsed" "$samples" "$BUILD/braid" export --format collapsed -o "$TMP/collapsed" "$trace"
own=$RATE
rm -f "$trace" "$TMP/collapsed"

workload "${WORKLOAD:-closure}" || exit 0
braid record -q --kill -F "$short_hz" -d "$window" -o "$TMP/short.trace" -- "${CMD[@]}" >"$TMP/out" 2>&1 || true
[[ -s $TMP/short.trace ]] || die "nothing was recorded: $(tail -n 3 "$TMP/out")"
info_of "$TMP/short.trace"
line "braid: collapsed" "$(info "$TMP/short.trace" samples.total)" "$BUILD/braid" export --format collapsed -o "$TMP/collapsed" "$TMP/short.trace"
calc "$(stat -c %s "$TMP/short.trace") / $(info "$TMP/short.trace" samples.total)" 'bytes a sample: %.1f\n'
if command -v perf >/dev/null; then
	perf record -q -F "$short_hz" -g -e cpu-clock -o "$TMP/perf.data" -- timeout "$window" "${CMD[@]}" >"$TMP/out" 2>&1 || true
	line "perf script" "$(perf script -i "$TMP/perf.data" -F comm 2>/dev/null | grep -c .)" perf script -i "$TMP/perf.data"
	echo "target: 60 times perf script: $(calc "$own / $RATE" %.0f), $(met "$own / $RATE >= 60")"
fi
workload "${WORKLOAD:-closure}" -XX:StartFlightRecording=settings=profile,filename="$TMP/short.jfr"
timeout "$window" "${CMD[@]}" >"$TMP/out" 2>&1 || true
jfr=$JAVA_HOME/bin/jfr
line "jfr print of no event" 0 "$jfr" print --events None "$TMP/short.jfr"
start=$CPU_S
line "jfr print" "$("$jfr" print --events ExecutionSample,NativeMethodSample "$TMP/short.jfr" | grep -c '^jdk\.')" \
	"$jfr" print --stack-depth 64 --events ExecutionSample,NativeMethodSample "$TMP/short.jfr"
net=$(calc "$CPU_S - $start")
RATE=$(calc "$RATE * $CPU_S / ($net > 0.01 ? $net : 0.01)" %.0f)
echo "target: 60 times jfr print: $(calc "$own / $RATE" %.0f), $(met "$own / $RATE >= 60")"
