#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads that JVM TI hides, and all threads of a JVM without an agent, have the names that the JVM's own dump has, also those
# that the kernel has cut.
# class: long
# takes: 20 s
source "$(dirname "$0")/../lib.sh"

# named_as_in_dump OPTION...: records the worker; each thread whose name the kernel has cut has the one of jstack.
named_as_in_dump()
{
	start_record -e cpu,offcpu "$@" -p "$JAVA_PID" -o names.trace
	[[ "$*" == *no-attach* ]] || wait_attached "$JAVA_PID"
	wait_sampling
	ask jvm burn 100
	ask jvm gc 2
	stop_record
	"$HOME_OF_JDK/bin/jstack" "$JAVA_PID" >jstack.txt
	grep -H . "/proc/$JAVA_PID"/task/*/comm >comms.txt
	braid query --format tsv names.trace 'SELECT tid, is_java, name FROM threads' >names.txt
	python3 - "$@" <<-'END' || fail "$HOME_OF_JDK $*: see above"
		import re, sys
		nids = (re.search(r'^"(.*)" .*\bnid=(\w+)', line) for line in open("jstack.txt"))
		truth = {int(m[2], 0): m[1] for m in nids if m}
		comms = {int(m[1]): m[2] for m in re.finditer(r"/task/(\d+)/comm:(.*)", open("comms.txt").read())}
		rows = [line.rstrip("\n").split("\t") for line in open("names.txt").readlines()[1:]]
		has = {int(tid): (name, is_java == "1") for tid, is_java, name in rows}
		cut = [tid for tid in has if tid in truth and len(truth[tid]) > 15 and truth[tid][:7] == comms.get(tid, "")[:7]]
		assert {"VM Periodic Task Thread", "C2 CompilerThread0"} <= {truth[tid] for tid in cut}, (truth, has, comms)
		wrong = {tid: (has[tid], truth[tid], comms[tid]) for tid in cut if has[tid][0] != truth[tid]}
		assert not wrong, wrong
		hidden = [tid for tid in cut if truth[tid].startswith(("VM ", "C1 ", "C2 "))]
		assert len(hidden) >= 2 and not any(has[tid][1] for tid in hidden), has
		others = {tid: (has[tid][0], truth[tid]) for tid in has if tid in truth and len(truth[tid]) <= 15 and truth[tid] == comms.get(tid)}
		assert others and all(name == other for name, other in others.values()), others
	END
}

names()
{
	HOME_OF_JDK=$1
	CLASSES=$PWD/old JAVA=$1/bin/java start_worker jvm -XX:+UseG1GC
	named_as_in_dump --no-attach
	named_as_in_dump
	end_worker jvm "$JAVA_PID"
}

mkdir old
"$JAVA_HOME/bin/javac" -source 8 -target 8 -d old "$LIB_DIR/programs/Worker.java" &>javac.out || fail "$(cat javac.out)"
names "$JAVA_HOME"
last=$(jdks | tail -n 1) # HotSpot cuts names in another way from 26 on
[[ $last == "$(readlink -f "$JAVA_HOME")" ]] || names "$last"

# In a pid namespace the JVM has other numbers for its threads.
PREFIX="unshare -m -p -f --mount-proc" start_worker namespace
wait_child "$JAVA_PID" java
braid record -e offcpu --no-attach -d 2 -p "$CHILD" -o namespace.trace 2>record.err
end_worker namespace "$JAVA_PID"
braid query --format tsv namespace.trace 'SELECT name FROM threads' >names.txt
for name in "C2 CompilerThread0" "VM Periodic Task Thread"; do
	grep -qx "$name" names.txt || fail "no $name in a pid namespace: $(cat names.txt)"
done
