#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A process with more mapped files than a recorder may open at first does not prevent the recording of a JVM.
# class: long
source "$(dirname "$0")/../lib.sh"

cat >many.py <<-'END'
	import mmap, os, sys
	kept = []
	data = open("/proc/self/exe", "rb").read(8192)
	for i in range(600):
	    with open("lib%d.so" % i, "w+b") as f:
	        f.write(data)
	        f.flush()
	        kept.append(mmap.mmap(f.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC))
	print("ready", flush=True)
	sys.stdin.readline()
END
start_program many.out python3 many.py
many=$JAVA_PID
start_worker jvm
# A recorder that may raise its limit, and one that may not.
for may in raise not; do
	as=(bash -c 'ulimit -Sn 300; exec "$@"' limited)
	[[ $may == raise ]] ||
		as=(bash -c 'ulimit -n 300; exec setpriv --inh-caps=-sys_resource --bounding-set=-sys_resource "$@"' limited)
	"${as[@]}" "$BUILD/braid" record -F 997 -p "$many" -p "$JAVA_PID" -o $may.trace >record.out 2>record.err &
	RECORD_PID=$!
	wait_joined "$JAVA_PID"
	burn jvm 100
	stop_record
	check $may.trace "Java's frames" 'mostly_whole(with_frame("Worker.spin"))'
done
end_worker jvm "$JAVA_PID"
# The recorder's command has the limit that the recorder was given.
(ulimit -Sn 300 && braid record -o c.trace -- bash -c 'ulimit -Sn' >limit)
[[ $(cat limit) -eq 300 ]] || fail "the command has another limit: $(cat limit)"
echo >&"$IN"
wait_end "$many" "the program of many files"
