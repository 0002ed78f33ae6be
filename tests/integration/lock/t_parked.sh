#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Threads parked for a lock of java.util.concurrent: its class and owner, as for a monitor. Threads that wait for
# something else are not blocked by a lock, and those that wait for work are idle.
# takes: 10 s
# shellcheck disable=SC2016 # names of classes have dollar signs
# shellcheck source=tests/integration/lib.sh
source "$(dirname "$0")/../lib.sh"

rounds=40
[[ $(java_version) -gt 8 ]] || rounds=100 # JDK 8's owner field is known a second later

# A monitor has an OFFCPU and a LOCK, of which readers take one: the first thread that needs a class makes others wait so.
# A thread's first rounds may precede the collector's definition of it. Barriers and queues have locks of their own, for
# which threads wait on a busy machine, too. The method that names what a thread parks for may wait for a compilation.
braid record -e cpu,lock,wait -o both.trace -- "$JAVA" -cp "$CLASSES" Locks $rounds >both.trace.truth 2>err
events both.trace \
	"each lock" 'len({c for c, *_ in truth["locked"] if "." in c or "$" in c}) == 4' \
	"no longer than the program says, and mostly as long" 'all(took <= 1.05 * int(whole) and
			(took > 0.4 * int(ns) or (c.endswith("ReentrantLock$NonfairSync") and jdk8))
		for jdk8 in ['"$((rounds == 100))"'] for c, ns, _, whole in truth["locked"] if "." in c or "$" in c
		for took in [sum(e.duration_ns for e in of("lock", name=c) if {"Locks.get", "Locks.inVain"} & set(e.stack))])' \
	"by whom it is held" 'all(most(e.other is not None and e.other.name == ("miser" if c == "Locks$Own" else "holder")
			for e in of("lock", name=c) if e.duration_ns > 4e6) for c, *_ in truth["locked"] if "." in c or "$" in c)' \
	"where" 'most(any("Locks" in f for f in e.stack) for e in of("lock"))' \
	"what nobody owns is no lock" 'not [e.name for e in of("lock") if any(w in e.name
		for w in ("Semaphore", "Latch", "Condition", "Queue", "Future", "Barrier"))]' \
	"but is waited for" 'total([e for e in of("offcpu") if e.thread.name == "waiter" and any("Semaphore" in f for f in e.stack)],
			"duration_ns") > 0.4 * int(next(ns for c, ns, *_ in truth["locked"] if c == "semaphore"))' \
	"nor is a monitor what was named before" 'not [e.name for e in of("offcpu") + of("lock") if e.thread.name == "misled" and "Semaphore" in e.name
		and not any(".reflect." in f for f in e.stack)]' \
	"no time twice" 'at_once(of("offcpu") + [l for l in of("lock") if l.flags & 1]) == []' \
	"nothing lost" 'lost == []'

braid report --json --top 1000 both.trace >both.json
python3 -c '
import json
r = json.load(open("both.json"))
b = r["events"]["offcpu"]
assert b["idle"] > 0 and b["idle_s"] > 0, b
# They wait for almost all of the time. On a busy machine, they also wait for each other, for moments.
long = {t["name"] for t in b["by_thread"] if t["weight_s"] > 0.1 * r["duration_s"]}
assert not [n for n in long if n.startswith(("GC Thread", "VM Thread", "VM Periodic", "C2 Compiler", "Reference Handler", "braid agent"))], long
assert not [s["name"] for s in b["by_site"] if "getTask" in s["name"]]
' || fail "idle threads are not apart"
braid report --full both.trace >both.txt
grep -q ' idle: threads of pools and of the JVM that waited for work' both.txt || fail "the report does not say that threads were idle"

# With only one of the two types.
braid record -e lock -o lock.trace -- "$JAVA" -cp "$CLASSES" Locks $rounds >lock.trace.truth 2>err
events lock.trace "locks alone" '{"Locks$Own", "java.util.concurrent.locks.StampedLock"} <= {e.name for e in of("lock")} and of("offcpu") == []'
braid record -e wait -o wait.trace -- "$JAVA" -cp "$CLASSES" Locks $rounds >wait.trace.truth 2>err
events wait.trace "waits alone" 'of("lock") == [] and len([e for e in of("offcpu") if any("StampedLock" in f for f in e.stack)]) > 5'
braid record -e offcpu=1ms -o offcpu.trace -- "$JAVA" -cp "$CLASSES" Locks $rounds >offcpu.trace.truth 2>err
events offcpu.trace "no locks" 'of("lock") == []' \
	"what threads are parked for" 'all(most(e.name == c for e in of("offcpu") if e.duration_ns > 4e6 and any(f.startswith(s) for f in e.stack))
		for c, s in [("java.util.concurrent.Semaphore$NonfairSync", "java.util.concurrent.Semaphore.acquire"),
			("java.util.concurrent.locks.ReentrantLock$NonfairSync", "java.util.concurrent.locks.ReentrantLock.lock"),
			("Condition of java.util.concurrent.locks.ReentrantLock$NonfairSync",
			 "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject.await")])'
