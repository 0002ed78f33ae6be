#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# dumps: measures what a thread dump of very many threads takes: of platform threads that own two monitors each, with
# --locks, and of parked virtual threads. Stopped: the longest that the JVM stopped all threads meanwhile, by its own log.
# JDKS (21 25), PLATFORM (2000), VIRTUAL (100000), ROUNDS (5).
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

platform=${PLATFORM:-2000}
virtual=${VIRTUAL:-100000}
rounds=${ROUNDS:-5}

header dumps
echo
echo "Whole threads: with their whole stack. Median and largest of $rounds dumps."
printf '%3s  %-9s  %7s  %7s  %17s  %17s  %19s  %10s\n' JDK threads count whole "time s" "CPU time s" "stopped ms" "RSS MiB"

# start HOME KIND COUNT: a JVM with such threads
start()
{
	rm -f "$TMP"/jvm.* "$TMP/safepoints"
	mkfifo "$TMP/jvm.in"
	"$1/bin/java" -Xmx2g "-Xlog:safepoint=info:file=$TMP/safepoints" -cp "$BUILD/bench/java" Parked "$2" "$3" \
		<"$TMP/jvm.in" >"$TMP/jvm.out" 2>"$TMP/jvm.err" &
	JVM_PID=$!
	STARTED=("$JVM_PID")
	exec {JVM_IN}>"$TMP/jvm.in"
	wait_for "the threads" ready
}

ready()
{
	kill -0 "$JVM_PID" 2>/dev/null || die "the program ended: $(tail -n 3 "$TMP/jvm.err")"
	grep -q ready "$TMP/jvm.out"
}

end()
{
	exec {JVM_IN}>&-
	wait "$JVM_PID" || die "the program failed: $(tail -n 3 "$TMP/jvm.err")"
	STARTED=()
}

# stopped FROM: ms of the longest stop in the log from this line on
stopped()
{
	tail -n +"$(($1 + 1))" "$TMP/safepoints" | awk '
		match($0, /Total: *[0-9]+/) { ns = substr($0, RSTART + 6, RLENGTH - 6) + 0; if (ns > longest) longest = ns }
		END { printf "%.2f", longest / 1e6 }'
}

# one_dump OPTION...: appends time, CPU time, stop and memory to the rounds
one_dump()
{
	local before status=0

	before=$(wc -l <"$TMP/safepoints")
	/usr/bin/time -o "$TMP/time" -f '%e %U %S %M' "$BUILD/braid" threads "$JVM_PID" "$@" >"$TMP/dump" 2>"$TMP/err" ||
		status=$?
	[[ $status -eq 0 ]] || die "braid threads ended with $status: $(tail -n 3 "$TMP/err")"
	# The log is written when the threads go on, which the dump need not wait for.
	sleep 0.2
	awk -v stop="$(stopped "$before")" '{ print $1, $2 + $3, stop, $4 / 1024 }' "$TMP/time" >>"$TMP/rounds"
}

# whole: how many of the program's threads the last dump has with the whole stack
whole()
{
	awk '/^[0-9]+ (virtual )?threads?, / { count = $1; own = 0 }
		/Parked\.deeper/ { own = 1 }
		own && /java\.lang\.(Virtual)?Thread\.run / { whole += count; own = 0 }
		END { print whole + 0 }' "$TMP/dump"
}

# column N FORMAT: median and largest of a column of the rounds
column()
{
	awk -v n="$1" '{ print $n }' "$TMP/rounds" | sort -g | awk -v format="$2" '{ v[NR] = $1 }
		END { printf format, v[int((NR + 1) / 2)], v[NR] }'
}

# measure HOME JDK KIND COUNT OPTION...
measure()
{
	local i

	start "$1" "$3" "$4"
	rm -f "$TMP/rounds"
	for ((i = 0; i < rounds; i++)); do
		one_dump "${@:5}"
	done
	end
	printf '%3s  %-9s  %7d  %7d  %s  %s  %s %s\n' "$2" "$3" "$4" "$(whole)" "$(column 1 '%7.2f  %8.2f')" \
		"$(column 2 '%7.2f  %8.2f')" "$(column 3 '%8.2f  %9.2f')" "$(column 4 '%4.0f  %4.0f')"
	TIME=$(awk '{ print $1 }' "$TMP/rounds" | median)
	STOP=$(awk '{ print $3 }' "$TMP/rounds" | median)
}

for jdk in ${JDKS:-21 25}; do
	home=$(jdk_home "$jdk")
	measure "$home" "$jdk" platform "$platform" --locks
	echo "target: the JVM stands still for at most 50 ms: $STOP ms, $(met "$STOP <= 50")" >>"$TMP/verdicts"
	measure "$home" "$jdk" virtual "$virtual"
	echo "target: such a dump takes at most 1 s: $TIME s, $(met "$TIME <= 1")" >>"$TMP/verdicts"
done
cat "$TMP/verdicts"
