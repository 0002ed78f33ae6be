#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The recorder's own memory: at rest no more than 32 MiB, whatever its maps could hold, and 64 MiB at the most while a
# program that compiles a lot is recorded at 999 Hz.
# class: long
# takes: 8 s
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

mkdir classes
start_record -q -F 999 -e cpu,jit,class -o busy.trace -- "$JAVA_HOME/bin/javac" -nowarn -d classes "$LIB_DIR"/programs/*.java
peak=0
while kb=$(resident_kb VmHWM 2>/dev/null) && [[ -n $kb ]]; do
	peak=$kb
	sleep 0.05
done
end_record
[[ $peak -gt 0 && $peak -le 65536 ]] || fail "$peak kB were resident"
check busy.trace "a program that compiles" 'i["samples"]["total"] > 0 and sum(j["code_loads"] for j in i["jvms"]) > 10'
