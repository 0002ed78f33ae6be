#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# USDT probes by name: of a program, with an argument and a semaphore, and HotSpot's own in each recorded JVM.
# class: long
source "$(dirname "$0")/../lib.sh"
source "$TEST_DIR/events.sh"

cc -O2 -o hit "$TEST_DIR/hit.c"
HIT=$PWD/hit

record -e "usdt:$HIT:hit:plain,usdt:$HIT:hit:counted,usdt:$HIT:hit:plain/arg0<10/" -o hit.trace -- ./hit 300
count hit.trace "usdt:$HIT:hit:plain" 300 'main;calls;hit_function$'
count hit.trace "usdt:$HIT:hit:counted" 300 'main;calls;hit_function$'
count hit.trace "usdt:$HIT:hit:plain/arg0<10/" 10 'main;calls;hit_function$'
check hit.trace "its argument" '{v["text"] for e in r["hit_events"] if e["event"].endswith("plain") for v in e["values"]} ==
	{"arg0=%d" % n for n in range(300)}'
record -e "usdt:$HIT:hit:plain{}" -o none.trace -- ./hit 30
check none.trace "no values" 'weight(stacks) == 30 and r["hit_events"] == []'
record -c 7 -e "usdt:$HIT:hit:plain" -o seventh.trace -- "${ON_ONE_CPU[@]}" ./hit 300
count seventh.trace "usdt:$HIT:hit:plain" 42 'main;calls;hit_function$'
refused "-e usdt:$HIT:hit:none" "no USDT probe 'hit:none' in $HIT; .readelf -n"
refused "-e usdt:libc:a:b" "'libc' is no absolute path" 2

libjvm=$(find "$JAVA_HOME/" -path '*/server/libjvm.so' -print -quit)
readelf -SW "$libjvm" | finds stapsdt || skip "this libjvm.so has no USDT probes"

# jvm GCS PROBES OPTION...: records a JVM with these numbers of collections and probes.
jvm()
{
	local gcs=$1 probes=$2

	shift 2
	rm -f worker.*
	start_worker worker -Xlog:gc:gc.log -XX:+UseSerialGC -Xmx128m
	start_record -q "$@" -p "$JAVA_PID" -o jvm.trace
	wait_joined "$JAVA_PID"
	wait_probes "$probes"
	before=$(grep -c Pause gc.log || true)
	ask worker gc "$gcs"
	stop_record
	end_worker worker "$JAVA_PID"
	pauses=$(($(grep -c Pause gc.log) - before))
}

jvm 9 3 -e cpu,hotspot:gc__begin,usdt:libjvm:hotspot:gc__end,hotspot:gc__begin/arg0==0/
[[ $pauses -ge 9 ]] || fail "$pauses collections"
count jvm.trace hotspot:gc__begin "$pauses" '^(__?clone[3]?;)?.*VM_G.*::doit\(\);.*gc_begin'
count jvm.trace usdt:libjvm:hotspot:gc__end "$pauses"
check jvm.trace "all of them" 'i["lost"] == {} and len(r["hit_events"]) >= 2'
PREFIX="${ON_ONE_CPU[*]}" jvm 9 1 -c 3 -e cpu,hotspot:gc__begin # hits are counted on each CPU
check jvm.trace "one in three" "r['hit_events'][0]['samples'] == $pauses // 3" \
	"of all" "r['hit_events'][0]['hits'] == $pauses"

jvm 2 0 -e cpu,hotspot:nonsense
check jvm.trace "said" 'notice("no USDT probe '"'hotspot:nonsense'"' in ")'

# Without the agent.
jvm_alone()
{
	start_worker alone -XX:+UseSerialGC
	start_record -q --no-attach -e cpu,hotspot:gc__begin -p "$JAVA_PID" -o alone.trace
	wait_probes 1
	ask alone gc 4
	stop_record
	end_worker alone "$JAVA_PID"
}
jvm_alone
count alone.trace hotspot:gc__begin 4

# A JVM that the recording starts.
record -e hotspot:vm__init__end,hotspot:gc__begin -o start.trace -- "$JAVA" -cp "$CLASSES" Share 5 >shares
count start.trace hotspot:vm__init__end 1
