#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# events: what each kind of event costs a program that does what the kind is about, all the time. KINDS (all below), PAIRS (60),
# WINDOW_S (0.25); QUICK=1: few pairs.
#
# One long-running program counts what it does; `braid ctl` switches the kind off and on, and each time with it is compared with the
# times without it before and behind it. So whatever the machine does meanwhile counts on both sides.
# shellcheck source=lib.sh
source "$(dirname "$0")/lib.sh"

window=${WINDOW_S:-0.25}
pairs=${PAIRS:-60}
[[ ${QUICK:-0} == 0 ]] || pairs=12

# kind, program, options of java, what is switched (recorder: for the whole recording), target
table=(
	"none|mixed|||"
	"tick|cpu|||"
	"cpu|cpu||cpu|"
	"default|mixed||cpu,gc,thread,jit,resource|1"
	"alloc|alloc|-Xmx512m|alloc=512k|2"
	"live|alloc|-Xmx512m|alloc=512k,live|"
	"lock|lock||lock|2"
	"wait|wait||wait|"
	"gc|alloc|-Xmx96m -Xmn16m|gc|"
	"safepoint|safepoint||safepoint|"
	"thread|thread||thread|"
	"vthread|vthread||vthread|"
	"class|class||class|"
	"jit|jit||jit|"
	"exception|exception||exception|"
	"all|mixed||all|"
)

# ---- the program ----

# start_program NAME JAVA-OPTION...: warm, its pid in PROGRAM. PREFIX: a command in front of it.
start_program()
{
	local name=$1

	shift
	rm -f "$TMP/in" "$TMP/out"
	mkfifo "$TMP/in"
	: >"$TMP/out"
	${PREFIX:-} "$JAVA" "$@" -cp "$BUILD/bench/java" Throughput "$name" <"$TMP/in" >"$TMP/out" 2>"$TMP/err" &
	PROGRAM=$!
	STARTED+=("$PROGRAM")
	exec {TO}>"$TMP/in"
	wait_for "$name to be warm" ready_or_gone
	grep -q ready "$TMP/out" || die "$name: $(tail -n 3 "$TMP/err")"
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

# switch KIND VERB LIST: what cannot be switched is the end.
switch()
{
	if [[ $1 == none ]]; then # as much is done, and nothing changed
		braid ctl "$RECORDER" status >/dev/null
	else
		braid ctl "$RECORDER" "$2" "$3" >"$TMP/ctl" 2>&1 || die "$1: $(head -n 3 "$TMP/ctl")"
	fi
}

# measure KIND LIST: off, on, off, on, ..., off; each line of $TMP/out is one window.
measure()
{
	local kind=$1 list=$2 i

	switch "$kind" disable "$list"
	for ((i = 0; i <= 2 * pairs; i++)); do
		if ((i % 2)); then
			switch "$kind" enable "$list"
			say on
		else
			say off
		fi
		sleep "$window"
		say pause
		((i % 2 == 0)) || switch "$kind" disable "$list"
	done
}

# ---- figures ----

# ratios: what was done a second with, by what was done without before and behind it, a line each.
ratios()
{
	awk '$1 == "on" || $1 == "off" { rate = $3 / $2
		if ($1 == "off" && on) { if (off + rate > 0) print on / ((off + rate) / 2); on = 0 }
		if ($1 == "on") on = rate; else off = rate }' "$TMP/out"
}

# quantile P of sorted numbers
quantile()
{
	awk -v p="$1" '{ v[NR] = $1 } END { if (!NR) exit 1; x = 1 + p * (NR - 1); i = int(x); f = x - i
		print v[i] + (i < NR ? f * (v[i + 1] - v[i]) : 0) }'
}

# slower P: percent, of the quantile P of what is left
slower()
{
	sort -g "$TMP/ratios" | quantile "$1" | awk '{ printf "%.2f", (1 - $1) * 100 }'
}

# row KIND PROGRAM TARGET
row()
{
	local cost events

	ratios >"$TMP/ratios"
	cost=$(slower 0.5)
	events=$(braid script --raw "$TMP/trace" | grep -c '^jvm_event' || true)
	printf '%-10s %-10s %5d %12.0f %9.2f %%  %-16s %9d %7d\n' "$1" "$2" "$(wc -l <"$TMP/ratios")" \
		"$(awk '$1 == "off" { print $3 / $2 * 1e9 }' "$TMP/out" | median)" "$cost" \
		"$(slower 0.75) to $(slower 0.25)" "$events" "$(lost_of "$TMP/trace")"
	[[ -z $3 ]] || echo "target: $1 takes less than $3 % of the throughput: $cost, $(met "$cost < $3")" >>"$TMP/targets"
}

lost_of()
{
	info_of "$1"
	info_sum "$1" lost
}

# one KIND PROGRAM JAVA-OPTIONS LIST TARGET
one()
{
	local kind=$1 program=$2 list=$4 target=$5 sleeper=""
	local -a options

	read -ra options <<<"$3"
	case $kind in
	tick) # the timer interrupts alone: the recording is of somebody who sleeps
		sleep 86400 &
		sleeper=$!
		STARTED+=("$sleeper")
		start_program "$program" "${options[@]}"
		start_recording "" -e cpu -p "$sleeper"
		list=cpu
		;;
	exception) # the JVM gives that to agents that are there from the start
		PREFIX="$BUILD/braid record -q -o $TMP/trace -e $list --" start_program "$program" "${options[@]}"
		RECORDER=$PROGRAM
		;;
	none)
		start_program "$program" "${options[@]}"
		start_recording agent -p "$PROGRAM"
		;;
	*)
		start_program "$program" "${options[@]}"
		start_recording agent -e "$list" -p "$PROGRAM"
		;;
	esac
	measure "$kind" "$list"
	if [[ $kind == exception ]]; then
		end_program
	else
		end_recording
		end_program
	fi
	[[ -z $sleeper ]] || kill "$sleeper"
	STARTED=()
	row "$kind" "$program" "$target"
}

header events
echo
echo "$pairs times ${window} s with the kind between as many without, in one run of a program; 'none' is the noise, 'tick' the timer"
echo "interrupts of samples of another process. 'slower by' is the median of the pairs, with their quartiles."
echo "kind       program    pairs  done/s plain  slower by    quartiles in %      events    lost"
: >"$TMP/targets"
for line in "${table[@]}"; do
	IFS='|' read -r kind program options list target <<<"$line"
	[[ -z ${KINDS:-} || " $KINDS " == *" $kind "* ]] || continue
	if [[ $kind == vthread ]] && ! "$JAVA_HOME/bin/javap" java.lang.Thread 2>/dev/null | grep -q startVirtualThread; then
		notice "vthread is left out: this JDK has no virtual threads"
		continue
	fi
	one "$kind" "$program" "$options" "$list" "$target"
done
cat "$TMP/targets"
