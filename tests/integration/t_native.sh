#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A process that is no JVM gets a native profile, and a notice.
source "$(dirname "$0")/lib.sh"

awk 'BEGIN { for (;;) x += 1 }' &
target=$!
start_record -F 997 -p "$target" -o n.trace
wait_sampling
cpu_of()
{
	local -a stat

	read -ra stat <"/proc/$1/stat"
	echo "${stat[13]}"
}
has_used()
{
	[[ $(cpu_of "$1") -ge $2 ]]
}
wait_for "the program's CPU time" has_used "$target" $(($(cpu_of "$target") + 100))
stop_record
kill "$target"
check n.trace \
	"no JVM" 'i["jvms"] == [] and i["java_samples"]["total"] == 0 and i["frames"]["java"] == 0' \
	"samples" 'i["samples"]["total"] > 50 and share(i["samples"]["complete"], i["samples"]["total"]) >= 98' \
	"the notice" "notice('process $target is not a JVM')"
braid report n.trace | finds "process $target is not a JVM" || fail "the report does not say that this is no JVM"
