# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What t_soak.sh and tests/soak/run share: a program that causes every event all the time, recorded with every kind of
# event, while the event configuration changes.
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

MEMORY_KB=${MEMORY_KB:-16384} # allowed growth of a program and an agent, independent of their work

# Memory that only agents enlarge, in KiB: the process's anonymous memory without the JVM's own committed memory, but
# with the category Internal, which has JVM TI's memory for agents and their references. The heap is touched from the
# start, so that it does not grow here.
unaccounted()
{
	local anonymous committed internal

	anonymous=$(awk '$1 == "RssAnon:" { print $2 }' "/proc/$1/status")
	"$JAVA_HOME/bin/jcmd" "$1" VM.native_memory summary >native_memory 2>/dev/null || return 0
	committed=$(sed -n 's/^Total:.*committed=\([0-9]*\)KB.*/\1/p' native_memory)
	internal=$(sed -n 's/^- *Internal (.*committed=\([0-9]*\)KB.*/\1/p' native_memory)
	[[ -n $anonymous && -n $committed && -n $internal ]] && echo $((anonymous - committed + internal))
}

# change PID VERB...: may only fail when the program is about to end.
change()
{
	braid ctl "$@" >ctl.out 2>ctl.err || {
		wait_for "the end of process $1, after ctl $*: $(cat ctl.err)" gone_or_zombie "$1"
		return 1
	}
}

# Disables and enables every kind once, changes figures, and gives all commands: each may go wrong while a program
# causes all events at the same time.
stir()
{
	change "$1" disable all &&
		change "$1" enable all &&
		change "$1" interval alloc=64k,lock=20us,wait=100us &&
		change "$1" dump &&
		change "$1" gc &&
		kill -QUIT "$1" &&
		change "$1" reset &&
		change "$1" interval alloc=512k,lock=10us,wait=1ms
}

# soak NAME SECONDS JAVA-OPTION...: fails when the program crashes, hangs, or grows. EVENTS: how many there were.
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
		# The first half of the time covers what is allocated once.
		[[ -n $early || $((end - SECONDS)) -gt $((seconds / 2)) ]] || early=$(unaccounted "$pid") || true
		stir "$pid" || break
		late=$(unaccounted "$pid") || true
		sleep 0.5
	done
	LIMIT_S=$((LIMIT_S + 60)) wait_end "$RECORD_PID" "$name"
	[[ $STATUS -eq 0 ]] || fail "$name ended with $STATUS: $(grep -v '^WARNING' "$name.err" | tail -n 5) $(grep -A20 '^stuck' "$name.out")"
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
