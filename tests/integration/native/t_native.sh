#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A process that is no JVM gets a native profile, and a notice.
# class: quick
source "$(dirname "$0")/../lib.sh"

awk 'BEGIN { for (;;) x += 1 }' &
target=$!
start_record -F 997 -p "$target" -o n.trace
wait_sampling
wait_samples 300
stop_record
kill "$target"
check n.trace \
	"no JVM" 'i["jvms"] == [] and i["java_samples"]["total"] == 0 and i["frames"]["java"] == 0' \
	"samples" 'at_least(i["samples"]["complete"], i["samples"]["total"], 99)' \
	"the notice" "notice('process $target is not a JVM')"
braid report --full n.trace | finds "process $target is not a JVM" || fail "the report does not say that this is no JVM"
