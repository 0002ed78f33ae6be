#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two JVMs in one recording, and their selection by --pid.
source "$(dirname "$0")/../lib.sh"

start_worker a
a=$JAVA_PID
start_worker b
b=$JAVA_PID
start_record -F 997 -p "$a,$b" -o ab.trace
wait_attached "$a"
wait_attached "$b"
burn a 300
ask b burn 100
ask b threads 3
stop_record
no_leftovers
check ab.trace \
	"stacks" 'well() and i["lost"] == {}' \
	"both JVMs" "sorted(j['pid'] for j in i['jvms']) == sorted([$a, $b])" \
	"threads" "jvm($b)['threads_started'] >= jvm($a)['threads_started'] + 3"
for pid in "$a" "$b"; do
	braid export --format collapsed --annotate --pid "$pid" ab.trace >"only-$pid"
done
python3 - ab.trace.json "only-$a" "only-$b" "$a" "$b" <<-'END'
	import json, sys
	r = json.load(open(sys.argv[1]))
	one, two = (sum(int(l.rsplit(" ", 1)[1]) for l in open(f)) for f in sys.argv[2:4])
	assert one + two == r["samples"]["total"], (one, two, r["samples"]["total"])
	by_pid = [sum(t["samples"] for t in r["threads"] if t["pid"] == int(pid)) for pid in sys.argv[4:]]
	assert [one, two] == by_pid and min(by_pid) > 0, (one, two, by_pid)
END
end_worker a "$a"
end_worker b "$b"
