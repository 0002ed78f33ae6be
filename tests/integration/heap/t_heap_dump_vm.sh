#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A heap that cannot be copied, such as ZGC's, is dumped by the JVM itself: it says before how long that may take, has a limit
# for it, and leaves no file in the JVM's /tmp, however it ends.
source "$(dirname "$0")/../lib.sh"

# What has been staged for this program: directories that are its user's are of others, too, so those of before do not count.
staged()
{
	find /tmp -maxdepth 2 -name heap.hprof -newer begun 2>/dev/null
}

export PYTHONPATH=$PYTHONPATH:$TEST_DIR
touch begun
start_program out "$JAVA" -XX:+UseZGC -Xmx256m -cp "$CLASSES" HeapShapes "$CLASSES"
braid heap "$JAVA_PID" --dump z.hprof.gz --max-pause 1h 2>err || fail "$(cat err)"
grep -q '^braid: .* of heap in use: the JVM writes it itself, and is expected to stand still for [0-9]' err ||
	fail "no estimate: $(cat err)"
grep -q "^braid: process $JAVA_PID: the JVM has written its heap, .*, in .*; z.hprof.gz takes " err || fail "$(cat err)"
[[ $(stat -c %a z.hprof.gz) == 600 ]] || fail "others can read it: $(stat -c %a z.hprof.gz)"
python3 - <<-'PYTHON' || fail "the file does not have the program's objects"
	from hprof import Dump

	d = Dump("z.hprof.gz")
	shapes = next(c for c in d.classes.values() if c.name == "HeapShapes")
	if len(d.arrays[shapes.statics["table"][1]][1]) != 100000:
	    raise SystemExit("the table")
PYTHON
[[ -z $(staged) ]] || fail "left behind: $(staged)"

# The JVM counts such a heap, too.
braid heap "$JAVA_PID" -n 3 --max-pause 1h >text 2>err || fail "$(cat err)"
grep -q '^braid: .* of heap in use: the JVM is expected to stand still for [0-9]' err || fail "no estimate: $(cat err)"
grep -q "^process $JAVA_PID: [0-9]* objects, .*; it stood still for " text || fail "no histogram: $(cat text)"

# The first estimate is by the number of objects, of which some pages are looked at: 13 ms, and 72 ns for each. The heap also
# has what waits to be collected, but not as many objects as if all were small.
python3 - <<-'PYTHON' || fail "the number of objects behind the estimate: $(cat err text)"
	import re

	time, unit = re.search(r"stand still for ([\d.]+) (\w+)", open("err").read()).groups()
	ns = float(time) * {"us": 1e3, "ms": 1e6, "s": 1e9}[unit]
	counted = int(re.search(r": (\d+) objects", open("text").read()).group(1))
	guessed = (ns - 13e6) / 72
	used = float(re.search(r"([\d.]+) MiB of heap in use", open("err").read()).group(1)) * (1 << 20)
	print(f"guessed {guessed:.0f}, counted {counted}")
	if not counted / 2 < guessed < used / 24:
	    raise SystemExit(f"guessed {guessed:.0f}, counted {counted}")
PYTHON

# The JVM's own dump has no stacks of allocations, so that is refused, and not after the watch.
STATUS=0
braid heap "$JAVA_PID" --dump w.hprof --watch 1h 2>err || STATUS=$?
[[ $STATUS -eq 1 && ! -e w.hprof ]] || fail "--watch: status $STATUS: $(cat err)"
grep -q 'is not dumped: --watch needs a copy of the process' err || fail "--watch: $(cat err)"

STATUS=0
braid heap "$JAVA_PID" --dump y.hprof --max-pause 1ns 2>err || STATUS=$?
[[ $STATUS -eq 1 && ! -e y.hprof ]] || fail "beyond --max-pause: status $STATUS: $(cat err)"
grep -q 'is not dumped: the JVM itself has to write .*, and --max-pause allows 1 ns; .*--force' err || fail "$(cat err)"
[[ -z $(staged) ]] || fail "left behind: $(staged)"
end_program
