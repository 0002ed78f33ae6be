#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The whole machine, with a JVM that runs already and one that starts later.
# alone: it attaches to every JVM there is
source "$(dirname "$0")/../lib.sh"

start_worker early
early=$JAVA_PID
start_record -F 997 -a -o all.trace
wait_attached "$early"
start_worker late
late=$JAVA_PID
wait_attached "$late"
burn early 300
burn late 300
stop_record
no_leftovers
check all.trace \
	"both JVMs" "jvm($early)['methods'] > 0 and jvm($late)['methods'] > 0" \
	"their threads" "all(sum(t['samples'] for t in r['threads'] if t['pid'] == pid and t['name'].startswith('old-')) > 0 for pid in ($early, $late))" \
	"others" 'len(r["processes"]) > 2'
end_worker early "$early"
end_worker late "$late"
