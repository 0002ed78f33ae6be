#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# events: measures what each kind of event costs a program that causes it all the time. KINDS (all below); PAIRS (60)
# and WINDOW_S (0.25) of switched kinds, RECORDINGS (10) and RECORDING_S (1.5) of others; QUICK=1: few of each.
#
# One long-running program counts its work. Each time with the kind is compared with the times without it before and
# after, so that other activity on the machine counts on both sides. `braid ctl` switches kinds that only the agent
# records, within one recording. Kinds with programs and probes of the kernel side, which stay as long as a recording
# lasts, are measured by recordings that begin and end; their beginnings and ends do not count.
# shellcheck source=switched.sh
source "$(dirname "$0")/switched.sh"

window=${WINDOW_S:-0.25}
pairs=${PAIRS:-60}
recordings=${RECORDINGS:-10}
recording=${RECORDING_S:-1.5}
[[ ${QUICK:-0} == 0 ]] || pairs=12 recordings=3

# kind, program, Java options, what is switched or recorded, target, how
table=(
	"none|mixed||||ctl"
	"tick|cpu||||ctl"
	"cpu|cpu||cpu||ctl"
	"alloc|alloc|-Xmx512m|alloc=512k|2|ctl"
	"live|alloc|-Xmx512m|alloc=512k,live||ctl"
	"thread|thread||thread||ctl"
	"vthread|vthread||vthread||ctl"
	"class|class||class||ctl"
	"exception|exception||exception||ctl"
	"idle|mixed||||record"
	"default|mixed||cpu,gc,thread,jit|1|record"
	"lock|lock||lock|2|record"
	"wait|wait||wait||record"
	"gc|alloc|-Xmx96m -Xmn16m|gc||record"
	"safepoint|safepoint||safepoint||record"
	"jit|jit||jit||record"
	"all|mixed||all||record"
)

# switch KIND VERB LIST: a kind that cannot be switched ends the benchmark.
switch()
{
	local list=$3

	# shellcheck disable=SC2001 # a repeated class is more than a pattern
	[[ $2 == enable ]] || list=$(sed 's/=[^,]*//g' <<<"$3")
	if [[ $1 == none ]]; then # the same work, and nothing changes
		braid ctl "$RECORDER" status >/dev/null
	else
		braid ctl "$RECORDER" "$2" "$list" >"$TMP/ctl" 2>&1 || die "$1: $(head -n 3 "$TMP/ctl")"
	fi
}

# by_recordings KIND LIST: the same with a recording for each time with the kind; idle recordings are of a sleeping
# process.
by_recordings()
{
	local kind=$1 list=$2 i
	local -a what=(-e "$list" -p "$PROGRAM")

	[[ $kind != idle ]] || what=(-e gc -p "$SLEEPER")
	for ((i = 0; i <= 2 * recordings; i++)); do
		if ((i % 2)); then
			start_recording "$([[ $kind == idle ]] || echo agent)" "${what[@]}"
			say on
		else
			say off
		fi
		sleep "$recording"
		say pause
		((i % 2 == 0)) || end_recording
	done
}

# by_ctl KIND LIST: off, on, off, on, ..., off; each line of $TMP/out is one window.
by_ctl()
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

# row KIND PROGRAM TARGET HOW
row()
{
	local cost events seconds=$recording

	ratios off on >"$TMP/ratios"
	cost=$(slower 0.5)
	[[ $4 == record ]] || seconds=$(awk '$1 == "on" { ns += $2 } END { print ns / 1e9 }' "$TMP/out")
	events=$(braid script --raw "$TMP/trace" | grep -c '^jvm_event' || true)
	printf '%-10s %-10s %5d %12.0f %9.2f %%  %-16s %9.0f %7d\n' "$1" "$2" "$(wc -l <"$TMP/ratios")" \
		"$(awk '$1 == "off" { print $3 / $2 * 1e9 }' "$TMP/out" | median)" "$cost" \
		"$(slower 0.75) to $(slower 0.25)" "$(calc "$events / $seconds")" "$(lost_of "$TMP/trace")"
	[[ -z $3 ]] || echo "target: $1 takes less than $3 % of the throughput: $cost, $(met "$cost < $3")" >>"$TMP/targets"
}

# switched KIND PROGRAM LIST JAVA-OPTION...
switched()
{
	local kind=$1 program=$2 list=$3
	local -a options=("${@:4}")

	case $kind in
	tick) # the timer interrupts alone: the recording is of a sleeping process
		start_program "$program" "${options[@]}"
		start_recording "" -e cpu -p "$SLEEPER"
		list=cpu
		;;
	exception) # the JVM grants exceptions only to agents that are loaded at its start
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
	by_ctl "$kind" "$list"
	[[ $kind == exception ]] || end_recording
	end_program
}

# one KIND PROGRAM JAVA-OPTIONS LIST TARGET HOW
one()
{
	local -a options

	read -ra options <<<"$3"
	if [[ $6 == record ]]; then
		start_program "$2" "${options[@]}"
		by_recordings "$1" "$4"
		end_program
	else
		switched "$1" "$2" "$4" "${options[@]}"
	fi
	STARTED=("$SLEEPER")
	row "$1" "$2" "$5" "$6"
}

header events
echo
echo "Times of ${window} s (switched) or ${recording} s (a recording each) with the kind, between as many without, in one run of a program."
echo "'none' and 'idle' are the noise of the two ways: nothing is switched, somebody else recorded; 'tick' is the timer interrupts of"
echo "samples of another process. 'slower by' is the median of the pairs, with their quartiles."
echo "kind       program    pairs  done/s plain  slower by    quartiles in %    events/s    lost"
: >"$TMP/targets"
sleep 86400 &
SLEEPER=$!
STARTED+=("$SLEEPER")
for line in "${table[@]}"; do
	IFS='|' read -r kind program options list target how <<<"$line"
	[[ -z ${KINDS:-} || " $KINDS " == *" $kind "* ]] || continue
	if [[ $kind == vthread ]] && ! "$JAVA_HOME/bin/javap" java.lang.Thread 2>/dev/null | grep -q startVirtualThread; then
		notice "vthread is left out: this JDK has no virtual threads"
		continue
	fi
	one "$kind" "$program" "$options" "$list" "$target" "$how"
done
cat "$TMP/targets"
