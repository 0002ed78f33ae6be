#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The whole machine, with a JVM that is there and one that comes later.
source "$(dirname "$0")/lib.sh"

start_worker early
early=$JAVA_PID
start_record -F 997 -a -o all.trace
wait_attached "$early"
start_worker late
late=$JAVA_PID
wait_attached "$late"
ask early burn 200
ask late burn 200
stop_record
no_leftovers
check all.trace \
	"both JVMs" "jvm($early)['methods'] > 0 and jvm($late)['methods'] > 0" \
	"their threads" "sum(t['samples'] for t in r['threads'] if t['pid'] in ($early, $late) and t['name'].startswith('old-')) > 200" \
	"others" 'len(r["processes"]) > 2'
end_worker early "$early"
end_worker late "$late"
