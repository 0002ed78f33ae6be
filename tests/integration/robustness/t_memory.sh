#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The recorder's own memory: at rest no more than 32 MiB, whatever its maps could hold.
source "$(dirname "$0")/../lib.sh"

resident_kb()
{
	sed -n "s/^$1:\s*\([0-9]*\) kB/\1/p" "/proc/$RECORD_PID/status"
}

start_worker rest
start_record -p "$JAVA_PID" -o rest.trace
wait_attached "$JAVA_PID"
wait_sampling
ask rest burn 500
kb=$(resident_kb VmRSS)
stop_record
end_worker rest "$JAVA_PID"
[[ $kb -gt 0 && $kb -le 32768 ]] || fail "$kb kB are resident"
check rest.trace "a recording with names" 'i["samples"]["total"] > 0 and i["lost"] == {}'
