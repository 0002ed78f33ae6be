#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The first samples of a running JVM: they are whole without an agent, and also before one is loaded.
# alone: it records the whole machine
source "$(dirname "$0")/../lib.sh"

# Samples of the JVM's own threads, from this time after the recording's start on.
from_is_whole()
{
	braid export --format collapsed --annotate --from "$2" --pid "$JAVA_PID" "$1" >whole.collapsed
	python3 - "$1" "$LIB_DIR" <<-'PY'
		import sys
		sys.path.insert(0, sys.argv[2])
		from chance import at_least
		lines = [line.rstrip("\n").rsplit(" ", 1) for line in open("whole.collapsed")]
		samples = sum(int(n) for _, n in lines)
		whole = sum(int(n) for s, n in lines if not s.startswith("[incomplete"))
		java = sum(int(n) for s, n in lines if "Worker.spin" in s)
		if not at_least(whole, samples, 99.9) or java < 10:
		    sys.exit("FAILED: %s: %d samples, %d of them whole, %d in Worker.spin" % (sys.argv[1], samples, whole, java))
	PY
}

start_worker jvm
tell jvm burn 60000
# recorded FILE OPTION...: as long as it takes to get enough samples.
recorded()
{
	start_record -q -F 997 -o "$@"
	wait_samples 300
	stop_record
}
recorded n.trace --no-attach -p "$JAVA_PID"
from_is_whole n.trace 0
recorded p.trace -p "$JAVA_PID"
from_is_whole p.trace 50ms
recorded a.trace -a
from_is_whole a.trace 100ms
kill "$JAVA_PID"
