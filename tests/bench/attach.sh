#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# attach: measures how long the agent needs to publish everything about a running JVM with thousands of compiled
# methods, and how long the JVM's threads are kept from running meanwhile. Each round is a fresh JVM, watched for the
# same time without and with a recording. ROUNDS (5), METHODS (6000), WINDOW_S (4), JAVA_OPTIONS (none).
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

rounds=${ROUNDS:-5}
methods=${METHODS:-6000}
window=${WINDOW_S:-4}
read -ra options <<<"${JAVA_OPTIONS:-}"

header attach
echo
echo "A program that wakes up every millisecond, $window s without and $window s with a recording. Late: the longest it woke up too late."
echo "Stopped: the longest that the JVM stopped all its threads, by its own log. Published: from the start of the command; replay: from the handshake"
echo "round  code pieces  methods  published ms  replay ms   late ms: without     with   stopped ms: without     with  for"

# mark: "time-ns late-ns" at this moment
mark()
{
	local before

	before=$(wc -l <"$TMP/jvm.out")
	echo mark >&"$JVM_IN"
	wait_for "the program's answer" answered "$before"
	tail -n 1 "$TMP/jvm.out" | cut -d' ' -f2-
}

answered()
{
	kill -0 "$JVM_PID" 2>/dev/null || die "the program ended: $(tail -n 3 "$TMP/jvm.err")"
	[[ $(wc -l <"$TMP/jvm.out") -gt $1 ]]
}

safepoints()
{
	wc -l <"$TMP/safepoints"
}

# longest_stop FROM TO: "ms name" of the longest between two lines of the log.
longest_stop()
{
	sed -n "$(($1 + 1)),$2p" "$TMP/safepoints" | awk '
		match($0, /Safepoint "[^"]*"/) {
			name = substr($0, RSTART + 11, RLENGTH - 12)
			if (match($0, /Total: *[0-9]+/) && substr($0, RSTART + 6, RLENGTH - 6) / 1e6 >= ms) {
				ms = substr($0, RSTART + 6, RLENGTH - 6) / 1e6
				of = name
			}
		}
		END { printf "%.2f %s\n", ms, of == "" ? "-" : of }'
}

start_jvm()
{
	rm -f "$TMP"/jvm.* "$TMP/safepoints"
	mkfifo "$TMP/jvm.in"
	"$JAVA" "${options[@]}" "-Xlog:safepoint=info:file=$TMP/safepoints" -cp "$BUILD/bench/java" ManyMethods "$methods" \
		<"$TMP/jvm.in" >"$TMP/jvm.out" 2>"$TMP/jvm.err" &
	JVM_PID=$!
	STARTED=("$JVM_PID")
	exec {JVM_IN}>"$TMP/jvm.in"
	wait_for "the program to compile its methods" answered 0
}

end_jvm()
{
	exec {JVM_IN}>&-
	wait "$JVM_PID" || die "the program failed: $(tail -n 3 "$TMP/jvm.err")"
	STARTED=()
}

# phase_ns NAME: when the JVM entered this phase (include/braid/jvm_event.h)
phase_ns()
{
	braid script --raw "$TMP/trace" | awk -v text="text=\"$1\"" '$1 == "name" && $NF == text { sub(/.*name=/, ""); name = "name=" $1 }
		$1 == "jvm_event" && $3 == "kind=26" && index($0 " ", " " name " ") && !n++ { sub(/.*time_ns=/, ""); print $1 }'
}

one_round()
{
	local s0 s1 s2 begin late_without late_with hello replayed code

	start_jvm
	mark >/dev/null
	s0=$(safepoints)
	sleep "$window"
	read -r _ late_without < <(mark)
	s1=$(safepoints)
	read -r begin _ < <(mark)
	braid record -q -p "$JVM_PID" -d "$window" -o "$TMP/trace" 2>"$TMP/err" || die "braid record: $(tail -n 3 "$TMP/err")"
	read -r _ late_with < <(mark)
	s2=$(safepoints)
	end_jvm

	info_of "$TMP/trace"
	hello=$(phase_ns agent)
	replayed=$(phase_ns replayed)
	code=$(info "$TMP/trace" jvms.0.code_loads)
	[[ -n $replayed ]] || die "not everything was published within $window s (WINDOW_S): $(cat "$TMP/err")"
	[[ $(info_sum "$TMP/trace" lost) -eq 0 ]] || notice "lost: $(grep '^lost' "$TMP/trace.info" | tr '\t\n' '  ')"
	awk -v begin="$begin" -v hello="$hello" -v replayed="$replayed" -v code="$code" -v late0="$late_without" \
		-v late1="$late_with" -v stop0="$(longest_stop "$s0" "$s1")" -v stop1="$(longest_stop "$s1" "$s2")" \
		-v methods="$(info "$TMP/trace" jvms.0.methods)" 'BEGIN {
			split(stop0, a, " "); split(stop1, b, " ")
			print code, methods, (replayed - begin) / 1e6, (replayed - hello) / 1e6, late0 / 1e6, late1 / 1e6,
				a[1], b[1], b[2]
		}' >>"$TMP/rounds"
	tail -n 1 "$TMP/rounds" | awk -v round="$1" '{
		printf "%5d  %11d  %7d  %12.0f  %9.0f  %17.2f  %7.2f  %20.2f  %7.2f  %s\n", round, $1, $2, $3, $4, $5, $6, $7, $8, $9
	}'
}

for ((round = 1; round <= rounds; round++)); do
	one_round "$round"
done

awk '
	function max(a, b) { return a > b ? a : b }
	function min(a, b) { return a < b ? a : b }
	{
		code = NR == 1 ? $1 : min(code, $1)
		published = max(published, $3)
		late0 = max(late0, $5)
		late1 = max(late1, $6)
	}
	END {
		printf "target: at least 5000 pieces of compiled code: %d, %s\n", code, (code >= 5000 ? "met" : "MISSED")
		printf "target: all published within 2 s, in every round: %.0f ms, %s\n", published,
			(published <= 2000 ? "met" : "MISSED")
		verdict = late1 <= 10 ? "met" : late0 > 10 ? "cannot tell: the machine is too noisy" : "MISSED"
		printf "target: no pause above 10 ms, in any round: %.2f ms, %.2f ms without a recording, %s\n", late1, late0, verdict
	}' "$TMP/rounds"
