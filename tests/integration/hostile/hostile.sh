# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the tests share that record hostile programs (tests/hostile) beside an honest JVM. Each hostile program runs as
# another user and with the priority HOSTILE_NICE, or the lowest. Sourced after lib.sh.

MEMORY_KB=262144
ENDS_S=30 # far longer than an end takes on a busy machine, far shorter than waiting for a silent peer would take

# What a JVM that was killed left there would be in the way of a process that gets its pid.
for path in /tmp/.java_pid*[0-9]; do
	[[ -e /proc/${path##*pid} ]] || rm -f "$path"
done
"${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O2 -I"$LIB_DIR/../../include" "$LIB_DIR"/../hostile/*.c -o hostile -pthread
mkdir -m 755 room
chown 65534:65534 room
chmod 755 .

declare -A HOSTILE_PID=() PIDS_OF=()

# start_hostile MODE...: starts each in a process of that name; HOSTILE_PID[MODE] is its pid in the recorder's
# namespace. Modes that this machine cannot run are omitted.
start_hostile()
{
	local mode

	HOSTILE_PID=() PIDS_OF=()
	rm -f room/recorder
	for mode in "$@"; do
		ln -sf "$PWD/hostile" "$PWD/$mode"
		rm -f "$mode.out"
		(cd room && exec nice -n "${HOSTILE_NICE:-19}" setpriv --reuid=65534 --regid=65534 --clear-groups "$OLDPWD/$mode") \
			>"$mode.out" 2>"$mode.err" &
		PIDS_OF[$mode]=$!
	done
	for mode in "$@"; do
		wait_for "the mode $mode" says_or_gone "$mode.out" ready "${PIDS_OF[$mode]}"
		HOSTILE_PID[$mode]=$(sed -n 's/^ready //p' "$mode.out")
		if [[ -z ${HOSTILE_PID[$mode]} ]]; then
			wait_end "${PIDS_OF[$mode]}" "$mode"
			[[ $STATUS -eq 77 ]] || fail "$mode ended with $STATUS: $(cat "$mode.err")"
			echo "left out: $mode: $(cat "$mode.err")"
			unset "HOSTILE_PID[$mode]"
		fi
	done
}

wait_under_way()
{
	local mode

	for mode in "$@"; do
		[[ -n ${HOSTILE_PID[$mode]:-} ]] || continue
		wait_for "the mode $mode to be under way" says_or_gone "$mode.out" "under way" "${PIDS_OF[$mode]}"
		grep -qs "under way" "$mode.out" || fail "$mode: $(cat "$mode.err" record.err)"
	done
}

end_hostile()
{
	local mode

	for mode in "${!PIDS_OF[@]}"; do
		kill -KILL "${PIDS_OF[$mode]}" 2>/dev/null || true
		wait "${PIDS_OF[$mode]}" 2>/dev/null || true
		rm -f "/tmp/.java_pid${HOSTILE_PID[$mode]:-none}"
	done
}

# start_honest RECORD-OPTION...: records the hostile processes and, attached to last, a JVM that waits for go_on.
# HONEST_AS is a command in front of the JVM.
HONEST_AS=()
start_honest()
{
	local mode options=()

	for mode in "${!HOSTILE_PID[@]}"; do
		options+=(-p "${HOSTILE_PID[$mode]}")
	done
	mkdir -p honest # which its user can read, also if the checkout is root's alone
	cp "$CLASSES"/ThreadEvents*.class honest
	start_program hostile.trace.truth "${HONEST_AS[@]}" "$JAVA" -cp honest ThreadEvents 300 wait
	start_record -F 199 -o hostile.trace "${options[@]}" -p "$JAVA_PID" "$@"
	echo "$RECORD_PID" >room/recorder
	watch_memory &
	WATCH_PID=$!
	wait_joined "$JAVA_PID"
	export EVENTS_OF=$JAVA_PID
}

# The recorder's peak memory, in record.kb.
watch_memory()
{
	local kb

	while kb=$(sed -n 's/^VmHWM:\s*\([0-9]*\) kB/\1/p' "/proc/$RECORD_PID/status" 2>/dev/null) && [[ -n $kb ]]; do
		echo "$kb" >record.kb
		sleep 0.1
	done
}

# The JVM does its work; then the recording is ended.
finish_honest()
{
	local asked

	go_on
	wait_says hostile.trace.truth end
	kill -INT "$RECORD_PID"
	asked=$(date +%s%N)
	end_record
	ENDED_MS=$((($(date +%s%N) - asked) / 1000000))
	end_program
	end_hostile
	wait "$WATCH_PID" || true
	# shellcheck disable=SC2119 # a clock
	echo "ended after $ENDED_MS ms; $(cat record.kb) kB at most; a trace of $(stat -c %s hostile.trace) bytes"
	[[ $ENDED_MS -lt $((ENDS_S * 1000)) ]] || fail "the recording ended $ENDED_MS ms after the request"
	[[ $(cat record.kb) -le $MEMORY_KB ]] || fail "the recorder had $(cat record.kb) kB in memory"
	honest_is_whole
}

# The recording of the JVM has everything that it did.
honest_is_whole()
{
	events hostile.trace \
		"every thread of the JVM, once" 'len(named("thread_start", "quick-\\d+")) == one("quick") and
			len(named("thread_end", "quick-\\d+")) == one("quick") and
			len({e.name for e in named("thread_end", "quick-\\d+")}) == one("quick")' \
		"its workers' times" 'all(-1e7 < of("thread_end", name=name)[0]["value"] - int(ns) < 5e7
			for name, ns in truth["cpu"]) and len(truth["cpu"]) == 4' \
		"nothing of it lost, nor of nobody in particular" 'lost_by(of("thread_start", name="worker-0")[0].process.pid) == [] and lost_by(0) == []'
	check hostile.trace \
		"its stacks" 'mostly_whole(with_frame("ThreadEvents.burn")) and all_named(with_frame("ThreadEvents.burn")) and
			enough(weight(with_frame("ThreadEvents.burn")), 199 * 0.5)'
}
