# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by t_soak.sh and tests/soak/run: a program that does everything all the time, recorded with every kind of event, whose
# choices are changed meanwhile.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

MEMORY_KB=${MEMORY_KB:-16384} # what a program and an agent may grow by: not by what they do

# What the JVM does not account for, in KiB: its anonymous memory without what it says it has committed itself. The heap is
# touched from the start, so that it does not grow here.
unaccounted()
{
	local anonymous committed

	anonymous=$(awk '$1 == "RssAnon:" { print $2 }' "/proc/$1/status")
	committed=$("$JAVA_HOME/bin/jcmd" "$1" VM.native_memory summary 2>/dev/null | sed -n 's/^Total:.*committed=\([0-9]*\)KB.*/\1/p')
	[[ -n $anonymous && -n $committed ]] && echo $((anonymous - committed))
}

# Once every kind off and on, figures changed, all asked for: what may go wrong when a program does all of it at the same time.
stir()
{
	local pid=$1

	braid ctl "$pid" disable all >ctl.out 2>ctl.err || fail "disable all: $(cat ctl.err)"
	braid ctl "$pid" enable all >ctl.out 2>ctl.err || fail "enable all: $(cat ctl.err)"
	braid ctl "$pid" interval alloc=64k,lock=20us,wait=100us >ctl.out
	braid ctl "$pid" dump
	braid ctl "$pid" gc
	kill -QUIT "$pid"
	braid ctl "$pid" reset
	braid ctl "$pid" interval alloc=512k,lock=10us,wait=1ms >ctl.out
}

# soak NAME SECONDS JAVA-OPTION...: fails when the program crashes, stands, or grows. EVENTS: how many there were.
soak()
{
	local name=$1 seconds=$2 end early="" late="" pid

	shift 2
	MALLOC_ARENA_MAX=2 "$BUILD/braid" record -q -e all -o "$name.trace" -- "$JAVA" -Xms96m -Xmx96m -XX:+AlwaysPreTouch \
		-XX:NativeMemoryTracking=summary "$@" -cp "$CLASSES" Soak "$seconds" >"$name.out" 2>"$name.err" &
	RECORD_PID=$!
	wait_child "$RECORD_PID" java
	pid=$CHILD
	wait_for "the start of $name" ready_or_gone "$name" "$RECORD_PID"
	end=$((SECONDS + seconds - 2))
	while [[ $SECONDS -lt $end ]] && kill -0 "$pid" 2>/dev/null; do
		# Half of the time for what is allocated once
		[[ -n $early || $((end - SECONDS)) -gt $((seconds / 2)) ]] || early=$(unaccounted "$pid") || true
		stir "$pid"
		late=$(unaccounted "$pid") || true
		sleep 0.5
	done
	LIMIT_S=$((LIMIT_S + 60)) wait_end "$RECORD_PID" "$name"
	[[ $STATUS -eq 0 ]] || fail "$name ended with $STATUS: $(grep -v '^WARNING' "$name.err" | tail -n 5) $(grep -A20 '^stuck' "$name.out")"
	[[ -z $(find . -name 'hs_err*') ]] || fail "$name: the JVM crashed"
	EVENTS=$(braid script --raw "$name.trace" | grep -cE '^(jvm_event|sample) ')
	braid info --json "$name.trace" >"$name.info"
	python3 - "$name.info" <<-END || fail "$name: the recording did not end in order, or is damaged"
		import json, sys
		i = json.load(open(sys.argv[1]))
		assert i["samples"]["total"] > 0, i
	END
	echo "$name: $EVENTS events in $seconds s, $(awk '$1 == "did" { n += $3 } END { print n }' "$name.out") things done," \
		"memory beside the JVM's own ${early:-?} to ${late:-?} KiB, lost $(python3 -c 'import json, sys
print(json.load(open(sys.argv[1]))["lost"])' "$name.info")"
	rm -f "$name".*
	[[ -z $early || -z $late || $((late - early)) -lt $MEMORY_KB ]] ||
		fail "$name: grew from $early to $late KiB beside what the JVM accounts for"
}
