#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kernelcost: measures what the programs of each kernel event take, by the kernel's own accounting of BPF run time: in a process
# that is not recorded, when the filter rejects the event, and when it is reported. ROUNDS (5), COUNT (40000), KINDS.
# shellcheck source=switched.sh
source "$(dirname "$0")/switched.sh"

rounds=${ROUNDS:-5}
header kernelcost
"${CC:-gcc}" -std=gnu11 -O2 "$BENCH/kernelcost.c" -o "$TMP/kernelcost"
head -c 65536 /dev/zero >"$TMP/data"

# programs_of_kind KIND
programs_of_kind()
{
	case $1 in
	syscall | file) echo "on_call on_call_end" ;;
	fault) echo "on_fault_user on_fault" ;;
	block) echo "on_block_queue on_block_issue on_block_end" ;;
	tcp) echo "on_tcp_state on_tcp_accept" ;;
	esac
}

# per_event COUNT: ns of all programs together for each event, from TMP/account. Those of other processes are among them.
per_event()
{
	awk -v count="$1" '$1 != "ready" { ns += $3 } END { printf "%.0f\n", ns / count }' "$TMP/account"
}

# measured KIND WAY COUNT EVENT: adds ns per event to KIND.WAY
measured()
{
	local kind=$1 way=$2 count=$3 event=$4 path=$TMP/data sleeper lost

	# shellcheck disable=SC2046 # words
	start_account $(programs_of_kind "$kind")
	if [[ $way == others ]]; then
		sleep 600 &
		sleeper=$!
		STARTED+=("$sleeper")
		start_recording "" -e "$event" -p "$sleeper"
		"$TMP/kernelcost" "$kind" "$count" "$path"
		end_recording
		kill "$sleeper"
	else
		braid record -q -o "$TMP/trace" -e "$event" -- "$TMP/kernelcost" "$kind" "$count" "$path"
		lost=$(braid info --json "$TMP/trace" | sed -n 's/.*"\('"${kind/file/syscall}"'\|hit\)": *\([0-9]*\).*/\2/p' | head -n 1)
		[[ -z $lost ]] || notice "$kind, $way: $lost lost"
	fi
	kill -TERM "$ACCOUNT"
	wait "$ACCOUNT" || die "the kernel's accounting failed"
	per_event "$count" >>"$TMP/$kind.$way"
}

count=${COUNT:-40000}
read -ra kinds <<<"${KINDS:-syscall file fault block tcp}"
for ((round = 0; round < rounds; round++)); do
	for kind in "${kinds[@]}"; do
		few=$count
		[[ $kind != block ]] || few=$((count / 10))
		[[ $kind != tcp ]] || few=$((count / 4))
		measured "$kind" others "$few" "$kind=0"
		measured "$kind" rejected "$few" "$kind=0/comm==nobody/"
		measured "$kind" reported "$few" "$kind=0"
	done
done
echo
# What else the machine does only adds to it.
echo "ns/event, lowest: not recorded  rejected  reported  event"
for kind in "${kinds[@]}"; do
	for way in others rejected reported; do
		sort -g "$TMP/$kind.$way" | head -n 1
	done | xargs | {
		read -r others rejected reported
		printf '%31d %9d %9d  %s\n' "$others" "$rejected" "$reported" "$kind"
	}
done
