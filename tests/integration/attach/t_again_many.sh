#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Many recordings of one JVM, of all kinds, some killed, half of them beside another one: their remains in the JVM do
# not grow after the first ones, nothing remains in the kernel and in /tmp, and the last recording is like the first.
# ROUNDS (20) is their number; a table shows the JVM after each hundred.
# class: long
# takes: 60 s
source "$(dirname "$0")/../soak.sh"

rounds=${ROUNDS:-20}
block=10 # this many alone, then as many beside another
kinds=(all cpu "cpu,alloc,live" "cpu,lock,wait" "cpu,gc,safepoint" "cpu,class,jit" "cpu,thread,vthread" "cpu,native-bind,resource")
ways=(INT killed TERM ctl early) # how they end

# ---- what is left ----

helpers()
{
	cat /proc/"$JAVA_PID"/task/*/comm 2>/dev/null | grep -cx 'braid.*' || true
}
has_helpers()
{
	[[ $(helpers) -eq $1 ]]
}
# In the JVM: copies of the agent, mappings of rings, descriptors, threads.
left()
{
	echo "$(own_copies "$JAVA_PID") $(grep -c 'bpf' "/proc/$JAVA_PID/maps")" \
		"$(find "/proc/$JAVA_PID/fd" -type l | wc -l) $(helpers)"
}
is_left()
{
	left >left.now
	[[ $(<left.now) == "$1" ]]
}
# same_left FIGURES WHEN: the remains are the same as then.
same_left()
{
	wait_for "copies, rings, descriptors and threads as $2 ($1), see left.now" is_left "$1"
}
# In the kernel, without a holder, since the test began. Other recorders' remains disappear when those end.
kernel_left()
{
	./bpf_left | sort >bpf.now
	comm -13 bpf.before bpf.now
}
none_in_kernel()
{
	[[ -z $(kernel_left) ]]
}
# In /tmp, from killed recorders: tmp.killed has directories that appeared while they ran, including others'.
drops()
{
	{ compgen -G '/tmp/.braid-*' || true; } | sort # find fails where one disappears meanwhile
}
none_in_tmp()
{
	[[ -z $(comm -12 <(drops) <(sort tmp.killed)) ]]
}

# ---- recordings ----

# again FILE EVENTS HOW: one recording that ends in this way
again()
{
	drops >tmp.before
	start_record -e "$2" -F 997 -p "$JAVA_PID" -o "$1"
	if [[ $3 == early ]]; then
		sleep "0.$((RANDOM % 900 + 100))" # at any moment of its start
	else
		wait_joined "$JAVA_PID"
		ask jvm threads 5
		ask jvm burn 20
	fi
	case $3 in
	INT | TERM)
		kill "-$3" "$RECORD_PID"
		end_record
		;;
	ctl)
		braid ctl "$RECORD_PID" stop >ctl.out 2>&1 || fail "ctl stop: $(cat ctl.out)"
		end_record
		;;
	killed | early)
		kill -9 "$RECORD_PID"
		wait_end "$RECORD_PID" "the recording"
		drops | comm -13 tmp.before - >>tmp.killed
		;;
	esac
}
beside_begins()
{
	start_record -F 97 -p "$JAVA_PID" -o beside.trace
	BESIDE=$RECORD_PID
	wait_joined "$JAVA_PID"
}
two_copies()
{
	again again.trace all INT
	wait_for "the end of one agent's thread" has_helpers 1
	beside_left=$(left)
	[[ $beside_left == "2 "* ]] || fail "left beside a recording: $beside_left"
	alone_left=${alone_left/#1/2}
}
beside_ends()
{
	RECORD_PID=$BESIDE
	if [[ $1 == killed ]]; then
		kill -9 "$BESIDE"
		wait_end "$BESIDE" "the recording beside"
	else
		stop_record
	fi
}
same='enough(i["samples"]["total"], 40) and mostly_whole(with_frame("Worker.spin")) and all_named(with_frame("Worker.spin")) and i["lost"] == {}'

# ---- the JVM's memory ----

# figures N: the JVM after N recordings and a collection, in which HotSpot frees disposed environments.
figures()
{
	local memory

	ask jvm gc 1
	memory=$(unaccounted "$JAVA_PID")
	printf '%7s  %s  %9s %9s %10s %12s\n' "$1" "$(left)" "$(wc -l <"/proc/$JAVA_PID/maps")" \
		"$(awk '$1 == "VmRSS:" { print $2 }' "/proc/$JAVA_PID/status")" \
		"$(sed -n 's/^- *Internal (.*committed=\([0-9]*\)KB.*/\1/p' native_memory)" "$memory"
	MEMORY=$memory
}

"${CC:-gcc}" -std=gnu11 -O1 "$TEST_DIR/bpf_left.c" -o bpf_left -lbpf
./bpf_left | sort >bpf.before
: >tmp.killed

start_worker jvm -Xms64m -Xmx64m -XX:+AlwaysPreTouch -XX:NativeMemoryTracking=summary
# What is allocated once per kind.
for kind in "${kinds[@]}"; do
	again first.trace "$kind" INT
done
again first.trace all INT
check first.trace "the first ones" "$same"
wait_for "the end of the agent's thread" has_helpers 0
alone_left=$(left)
[[ $alone_left == "1 0 "* ]] || fail "left after recordings one after the other: $alone_left"

echo "recordings  copies rings descriptors threads  mappings  RSS KiB  Internal KiB  beside the JVM's own KiB"
figures 0
before=$MEMORY
for ((n = 1; n <= rounds; n++)); do
	if [[ $((n % (2 * block))) -eq $block ]]; then
		beside_begins
		# From here on there are two copies of the agent.
		[[ $n -gt $block ]] || two_copies
	fi
	again again.trace "${kinds[n % ${#kinds[@]}]}" "${ways[n % ${#ways[@]}]}"
	if [[ $((n % (2 * block))) -ge $block ]]; then
		same_left "$beside_left" "beside another, in round $n"
	else
		wait_for "the agent's sleep" no_ring "$JAVA_PID"
		same_left "$alone_left" "after the first ones, in round $n"
	fi
	if [[ $((n % (2 * block))) -eq $((2 * block - 1)) ]]; then
		beside_ends "$([[ $((n % (8 * block))) -ne $((2 * block - 1)) ]] || echo killed)"
	fi
	if [[ $((n % 100)) -eq 0 ]]; then
		again again.trace all INT
		check again.trace "the one after round $n" "$same"
		wait_for "the agent's sleep" no_ring "$JAVA_PID"
		figures "$n"
	fi
done
again again.trace all INT
check again.trace "the last one" "$same"
wait_for "the agents' sleep" no_ring "$JAVA_PID"
same_left "$alone_left" "after the first ones"
figures "$((n - 1))"
[[ $((MEMORY - before)) -lt $MEMORY_KB ]] || fail "the JVM has grown by $((MEMORY - before)) KiB"
wait_for "the end of what is in the kernel, see bpf.now" none_in_kernel
wait_for "the end of what was in /tmp, see tmp.killed" none_in_tmp
end_worker jvm "$JAVA_PID"
