# shellcheck shell=bash disable=SC2016 # names of classes have dollar signs
# SPDX-License-Identifier: Apache-2.0
# For the tests of `braid threads` with the programs Deadlocks and Virtual, sourced after lib.sh.

# The dump in dump.json has `threads`, groups by the threads' names, and `dead`, the names of each deadlock's threads.
says()
{
	python3 - "$@" <<-'PYTHON'
		import json, sys

		d = json.load(open("dump.json"))
		threads = {t["name"]: dict(g, **t) for g in d.get("groups", []) for t in g["threads"]}
		tids = {name: t["tid"] for name, t in threads.items()}
		dead = sorted(tuple(sorted(t["name"] for t in cycle)) for cycle in d["deadlocks"])

		def is_in(name, java, kernel, reason, method):
		    t = threads[name]
		    frames = [f["name"] for f in t["stack"]]
		    return ((t["java_state"], t["kernel_state"], t["reason"]) == (java, kernel, reason)
		            and "Deadlocks." + method in frames and not any("incomplete" in f for f in frames))

		def is_virtual(name, java, mount, method):
		    t = threads[name]
		    frames = [f["name"] for f in t["stack"]]
		    return ((t["java_state"], t["mount_state"]) == (java, mount) and "Virtual." + method in frames
		            and not any("incomplete" in f for f in frames))

		def java(name):
		    return [f["name"] for f in threads[name]["stack"] if f["kind"] in ("interpreted", "C1", "C2", "compiled", "inlined")]

		for expression in sys.argv[1:]:
		    try:
		        true = eval("(" + expression + ")")
		    except KeyError as e:
		        sys.exit("%s: no %s" % (expression, e))
		    if not true:
		        sys.exit("false: %s\n%s" % (expression, json.dumps(d)[:20000]))
	PYTHON
}

# dumped STATUS EXPRESSION...: a dump ends so, and the expressions are true.
dumped()
{
	local status=0

	braid threads "$JAVA_PID" --json >dump.json 2>err || status=$?
	echo "status $status" >said
	[[ $status -eq $1 ]] || return 1
	says "${@:2}" 2>said
}

# takes WHAT STATUS EXPRESSION...: threads take a moment until they are where they stay.
takes()
{
	local what=$1 end=$((SECONDS + LIMIT_S))

	shift
	until dumped "$@"; do
		[[ $SECONDS -lt $end ]] || fail "$what: $(cat err said)"
	done
}

OTHERS=(
	'threads["parked"]["reason"] == "parked" and threads["parked"]["class"] == "java.util.concurrent.Semaphore$NonfairSync"'
	'is_in("sleeping", "TIMED_WAITING", "sleeping", "sleeping", "sleep")'
	'threads["running"]["java_state"] == "RUNNABLE" and threads["running"]["kernel_state"] in ("running", "runnable")'
	'"Deadlocks.run" in [f["name"] for f in threads["running"]["stack"]] and threads["running"]["cpu_s"] > 0.01'
	'is_in("waiting", "WAITING", "sleeping", "waiting for notify", "waitForNotify")'
	'threads["waiting"]["class"] == "java.util.concurrent.Semaphore"'
	'is_in("accepting", "RUNNABLE", "sleeping", threads["accepting"]["reason"], "accept")'
	'threads["accepting"]["reason"] in ("accept", "poll")'
	'is_in("owner", "TIMED_WAITING", "sleeping", "sleeping", "own")'
	'is_in("wanting", "BLOCKED", "sleeping", "blocked on a monitor", "want")'
	'threads["wanting"]["owner_tid"] == tids["owner"] and threads["wanting"]["class"] == "Deadlocks$Owned"'
	'threads["wanting"]["deadlock"] is None'
	'threads["wanting"]["vm_state"] == "blocked" and threads["accepting"]["vm_state"] == "in_native"'
	'threads["awaiting"]["class"] == "Condition of java.util.concurrent.locks.ReentrantLock$NonfairSync" and threads["awaiting"]["owner_tid"] is None'
)

# The frame is found in braid's own stack of the thread, which has not moved.
OWNED=(
	'[(l["class"], l["method"]) for l in threads["owner"]["owns"]] == [("Deadlocks$Owned", "Deadlocks.own")]'
	'threads["owner"]["owns"][0]["depth"] == java("owner").index("Deadlocks.own")'
	'[(l["class"], l["method"]) for l in threads["monitor-1"]["owns"]] == [("Deadlocks$Inner", "Deadlocks.enterBoth")]'
	'threads["monitor-1"]["owns"][0]["depth"] == java("monitor-1").index("Deadlocks.enterBoth")'
	'all(threads[n]["owns"] == [] for n in ("waiting", "wanting", "parked", "sleeping", "running", "lock-1"))'
	'0 < d["stopped_at_most_ns"]'
)

# deadlocks JDK CLASSES OPTION...: the program has its deadlocks and its other threads.
deadlocks()
{
	start_program out "$1/bin/java" -Xmx64m "${@:3}" -cp "$2" Deadlocks deadlocks
	takes "deadlocks in $*" 4 \
		'dead == [("lock-1", "lock-2"), ("mixed-1", "mixed-2"), ("monitor-1", "monitor-2")]' \
		'all(threads[n]["owner_tid"] == tids[n[:-1] + ("2" if n[-1] == "1" else "1")] for c in dead for n in c)' \
		'all(threads[n]["class"] == "Deadlocks$Inner" for n in ("monitor-1", "monitor-2", "mixed-2"))' \
		'is_in("monitor-1", "BLOCKED", "sleeping", "blocked on a monitor", "enterBoth")' \
		'is_in("lock-1", "WAITING", "sleeping", "parked", "lockBoth")' \
		'threads["lock-1"]["class"].startswith("java.util.concurrent.locks.ReentrantLock$")' \
		"${OTHERS[@]}"
	[[ "${*:3}" != *DisableAttachMechanism* ]] || return 0
	braid threads "$JAVA_PID" --locks --json >dump.json 2>err && fail "--locks: no deadlock"
	says "${OWNED[@]}" || fail "--locks in $1: $(cat err)"
}

VIRTUALS=(
	'is_virtual("deep", "WAITING", "unmounted", "deep")'
	'[f["name"] for f in threads["deep"]["stack"]].count("Virtual.deep") == 201'
	'is_virtual("sleeping", "TIMED_WAITING", "unmounted", "sleep") and threads["sleeping"]["reason"] == "sleeping"'
	'is_virtual("lock-1", "WAITING", "unmounted", "lockBoth")'
	'threads["lock-1"]["class"] == "java.util.concurrent.locks.ReentrantLock$NonfairSync"'
	'threads["lock-1"]["owner_vthread"] == threads["lock-2"]["vthread"]'
	'threads["mixed-1"]["owner_tid"] == tids["mixed-2"] or not threads["mixed-2"]["java"]'
	'threads["mixed-2"]["owner_vthread"] == threads["mixed-1"]["vthread"] or not threads["mixed-2"]["java"]'
	'is_virtual("waiting", "WAITING", threads["waiting"]["mount_state"], "waitForNotify")'
	'is_virtual("running", "RUNNABLE", "mounted", "run") and threads["running"]["carrier_tid"] in tids.values()'
	'"unstarted" not in threads'
	'max(len(g["threads"]) for g in d["groups"] if g["mount_state"]) == 3000'
)
LOCKED='("lock-1", "lock-2"), ("mixed-1", "mixed-2")'

# virtuals JDK OPTION...: the program Virtual, compiled here, has its threads and deadlocks.
virtuals()
{
	local dead=$LOCKED arguments=(3000)

	is_jdk "$1" 24 && arguments+=(monitors) && dead+=', ("monitor-1", "monitor-2")'
	start_program out "$1/bin/java" -Xmx256m "${@:2}" -Djdk.virtualThreadScheduler.parallelism=2 \
		-Djdk.virtualThreadScheduler.maxPoolSize=2 -cp . Virtual "${arguments[@]}"
	takes "virtual threads in $*" 4 "dead == [$dead]" "${VIRTUALS[@]}"
}
