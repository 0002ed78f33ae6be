#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Another user's program maps files that take long to read: the recorder answers meanwhile.
# class: long
# takes: 15 s
source "$(dirname "$0")/../lib.sh"

FILES=60 # names of one: each is read
FUNCTIONS=300000

cat >slow.s <<-END
	.text
	.rept $FUNCTIONS
	.cfi_startproc
	nop
	.cfi_def_cfa_offset 16
	ret
	.cfi_endproc
	.endr
END
gcc -shared -nostdlib -o slow.so slow.s
cat >map.py <<-'END'
	import mmap, sys
	print("ready", flush=True)
	sys.stdin.readline()
	kept = []
	for i in range(int(sys.argv[1])):
	    with open("%d.so" % i, "rb") as f:
	        kept.append(mmap.mmap(f.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC, offset=4096))
	sys.stdin.readline()
END
for ((n = 0; n < FILES; n++)); do
	ln slow.so "$n.so"
done
chown 65534:65534 ./*.so
chmod 755 .

# Of the recorder, in hundredths of a second.
cpu_time()
{
	awk '{ sub(/.*\) /, ""); print $12 + $13 }' "/proc/$RECORD_PID/stat"
}

start_program map.out setpriv --reuid=65534 --regid=65534 --clear-groups "$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')" map.py $FILES
start_record -F 99 -o slow.trace -p "$JAVA_PID"
wait_sampling
braid ctl "$RECORD_PID" status >answer
before=$(cpu_time)
go_on
longest=0
last=0
now=$before
# Until it rests.
while [[ $((now - before)) -lt 50 || $now -gt $((last + 2)) ]]; do
	last=$now
	asked=$(date +%s%N)
	"${UNDISTURBED[@]}" "$BUILD/braid" ctl "$RECORD_PID" status >answer || fail "no answer"
	took=$((($(date +%s%N) - asked) / 10000000))
	longest=$((took > longest ? took : longest))
	sleep 0.2
	now=$(cpu_time)
done
spent=$((now - before))
end_program
end_record
echo "$((spent * 10)) ms of CPU time; the longest answer took $((longest * 10)) ms"
[[ $((2 * longest)) -lt $spent ]] || fail "an answer took $((longest * 10)) ms while files were read for $((spent * 10)) ms"
events slow.trace "what finds no room is counted for the program" "lost_by(0) == [] and {row[:2] for row in lost_by($JAVA_PID)} <= {('collector', 'unwind_table')}"
