#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The number of BPF instructions that the kernel's verifier processes before a recording can begin: its own count, which
# is the same on every machine with the same kernel. Each program that walks is 39,000 to 56,000 instructions on Linux
# 6.1 and 6.18, and the one at switches 84,000.
source "$(dirname "$0")/../lib.sh"

MOST=96000
WALKER=30000 # no other program is as large

# verified NAME: one number per program of the running recording.
verified()
{
	cat /proc/"$RECORD_PID"/fdinfo/* 2>/dev/null | sed -n 's/^verified_insns:[^0-9]*//p' >"$1" || true
}

walkers()
{
	awk -v least=$WALKER '$1 > least' "$1" | wc -l
}

# has_walkers NAME COUNT: programs of probes are loaded a moment after the first sample.
has_walkers()
{
	verified "$1"
	[[ $(walkers "$1") -ge $2 ]]
}

# begin NAME WALKERS OPTION...: a recording has this many programs that walk, and each is within the bound.
begin()
{
	local name=$1 count=$2

	shift 2
	start_record -o "$name.trace" "$@"
	wait_sampling
	verified "$name"
	[[ -s $name ]] || skip "this kernel does not count what it verifies"
	wait_for "$name: $count programs that walk" has_walkers "$name" "$count"
	[[ -z ${JAVA_PID:-} ]] || wait_for "the agent" has_ring "$JAVA_PID"
	verified "$name"
	stop_record
	[[ $(walkers "$name") -eq $count ]] || fail "$name: $(walkers "$name") programs walk, not $count: $(tr '\n' ' ' <"$name")"
	awk -v most=$MOST '$1 > most {exit 1}' "$name" || fail "$name: the verifier looks at more than $MOST instructions: $(tr '\n' ' ' <"$name")"
}

# Programs of probes are loaded for JVMs only, and those that walk for stack requests only when such are enabled.
begin default 1 -p $$
begin all 5 --preset all -p $$
start_worker jvm
begin jvm 2 -p "$JAVA_PID"
begin jvm-all 6 --preset all -p "$JAVA_PID"
tell jvm exit
