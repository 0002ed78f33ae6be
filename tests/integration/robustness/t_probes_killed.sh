#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The recorder is killed while it sets probes: none of them remains, neither in the JVM's code nor in the kernel, whose
# log would show it. One in ten remained when the thread that set them was killed, too.
# class: long
# takes: 20 s
source "$(dirname "$0")/../lib.sh"

cat >probed.py <<-'END'
	import os, sys
	pid, wanted = sys.argv[1], sys.argv[2] == "probed"
	mem = open(f"/proc/{pid}/mem", "rb")
	changed = False
	for line in open(f"/proc/{pid}/maps"):
	    parts = line.split()
	    if "x" in parts[1] and parts[-1].endswith("/libjvm.so"):
	        start, end = (int(n, 16) for n in parts[0].split("-"))
	        mem.seek(start)
	        with open(parts[-1], "rb") as f:
	            f.seek(int(parts[2], 16))
	            changed |= mem.read(end - start) != f.read(end - start)
	sys.exit(changed != wanted)
END
is_now()
{
	python3 probed.py "$JAVA_PID" "$1"
}

leaks()
{
	dmesg 2>/dev/null | grep -c 'uprobe: .*leaking uprobe' || true
}

start_worker jvm
before=$(leaks)
# At any moment between its start and the setting of the last probe.
for round in {10..40}; do
	start_record -F 99 -e cpu,safepoint,jit,gc -p "$JAVA_PID" -o "killed-$round.trace"
	sleep "0.$((round * 2))"
	kill -KILL "$RECORD_PID"
	wait "$RECORD_PID" || true
	wait_for "the JVM's code to be as its file has it" is_now unprobed
done
[[ $(leaks) -le $before ]] || fail "the kernel has kept $(($(leaks) - before)) probes: $(dmesg | grep 'leaking uprobe' | tail -n 1)"
end_worker jvm "$JAVA_PID"
