# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# For the tests of tracepoints, functions and USDT probes.

[[ -d /sys/kernel/tracing/events || -n $(sed -n '/tracefs/p' /proc/filesystems) ]] || skip "no tracefs in this kernel"

record()
{
	braid record -q "$@" 2>err || fail "$(cat err)"
}

# wait_probes NUMBER: waits until a recording with the clock has NUMBER probes in its process.
wait_probes()
{
	wait_for "the probes" perf_events 2 "$1" # side-band and clock have one for each CPU
}

# recorded FILE EVENTS COMMAND...: records a program that says "ready" and waits for a line before it does what is to be
# recorded. Its output is FILE.truth.
recorded()
{
	local file=$1 events=$2

	shift 2
	start_program "$file.truth" "$@"
	start_record -q -e "$events" -p "$JAVA_PID" -o "$file"
	if [[ $1 == "$JAVA" ]]; then
		wait_joined "$JAVA_PID"
	else
		wait_for "the recording" answers
	fi
	end_program
	end_record
}

# stacks_of FILE EVENT: the stacks of an event's samples, with their numbers.
stacks_of()
{
	braid export --event "$2" "$1" 2>export.err || fail "$(cat export.err)"
}

# weigh PATTERN: the sum of the stacks that match, which are read.
weigh()
{
	PATTERN=$1 awk '{ n = $NF; sub(/ [0-9]+$/, ""); if ($0 ~ ENVIRON["PATTERN"]) sum += n } END { print sum + 0 }'
}

# count FILE EVENT NUMBER [PATTERN]: NUMBER samples have the event, and all have a whole stack that matches the pattern.
count()
{
	local all matching

	stacks_of "$1" "$2" >stacks
	all=$(weigh . <stacks)
	[[ $all -eq $3 ]] || fail "$1: $all samples of $2, not $3: $(head -c 2000 stacks)"
	matching=$(sed '/^\[incomplete/d' stacks | weigh "${4:-.}")
	[[ $matching -eq $3 ]] || fail "$1: $matching of $all stacks of $2 match '${4:-.}': $(head -c 2000 stacks)"
}

# refused OPTIONS PATTERN [STATUS]: the recording does not begin, and says why in one line.
refused()
{
	local -a options

	read -ra options <<<"$1"
	STATUS=0
	braid record "${options[@]}" -o no.trace -- true >out 2>err || STATUS=$?
	[[ $STATUS -eq ${3:-1} ]] || fail "record $1: ended with $STATUS: $(cat err)"
	grep -qE -- "$2" err || fail "record $1: the message is not '$2': $(cat err)"
	[[ $STATUS -ne 1 ]] || one_line_error out err
	[[ ! -e no.trace ]] || fail "record $1: a recording that could not begin left a trace"
}
