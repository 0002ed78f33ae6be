#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The agent is loaded and unloaded at the start and the end of a JVM's life, and beside agents that fail or that make it
# fail.
# class: long
# takes: 15 s
source "$(dirname "$0")/../lib.sh"

OTHER=$CLASSES/libprofiler.so

# starts NAME OPTION: attaches to a JVM that libhold.so holds up; OPTION ,start: until the agent is loaded.
starts()
{
	local name=$1 opened

	mkfifo "$name.in"
	"$JAVA" "-agentpath:$CLASSES/libhold.so=$PWD/$name.go$2" -cp "$CLASSES" Worker <"$name.in" >"$name.out" 2>"$name.err" &
	JAVA_PID=$!
	exec {opened}<>"$name.in"
	start_record -F 499 -p "$JAVA_PID" -o "$name.trace"
	wait_sampling
	[[ -z $2 ]] || wait_for "the agent in the JVM" maps_agent "$JAVA_PID"
	touch "$name.go"
	open_worker "$name" "$JAVA_PID"
	wait_replayed "$JAVA_PID"
	burn "$name" 200
	end_worker "$name" "$JAVA_PID"
	end_record
	exec {opened}>&-
	check "$name.trace" "stacks" 'mostly_whole(with_frame("Worker.spin")) and all_named(with_frame("Worker.spin"))'
}

maps_agent()
{
	grep -q libbraid-agent.so "/proc/$1/maps"
}

# ---- while the JVM starts: it is attached to when it has ----
starts early ""
events early.trace "attached when it was there" '[e.name for e in of("phase")] == ["agent", "replayed", "death"]' "nothing lost" 'lost == []'

# ---- before it is live: from JDK 21 on, the JVM itself waits with the attach ----
if [[ $(java_version) -lt 21 ]]; then
	starts started ",start"
	events started.trace "its agent waits" '[e.name for e in of("phase")] == ["agent", "replayed", "death"]'
fi

# is_dying FILE: the worker's JVM is in VMDeath and stays there.
is_dying()
{
	[[ $(od -An -v -j48 -N8 -td8 "$1" | tr -d ' ') == 1 ]]
}

# dies NAME: VMDeath continues.
dies()
{
	rm "$1"
	wait_end "$JAVA_PID" "$1"
	[[ $STATUS -eq 0 ]] || fail "$1 ended with $STATUS: $(cat "$1.err")"
}

# ---- while it ends ----
start_worker leaving "-agentpath:$OTHER=$PWD/leaving,death"
start_record -F 499 -e all -p "$JAVA_PID" -o leaving.trace
wait_joined "$JAVA_PID"
burn leaving 100
tell leaving exit
wait_for "VMDeath" is_dying leaving
stop_record
dies leaving
check leaving.trace "stacks" 'mostly_whole(with_frame("Worker.spin")) and all_named(with_frame("Worker.spin"))'

# ---- when it has all but ended: whether the agent still gets in is the JVM's choice ----
start_worker late "-agentpath:$OTHER=$PWD/late,death"
tell late exit
wait_for "VMDeath" is_dying late
start_record -F 499 -p "$JAVA_PID" -o late.trace
wait_sampling
dies late
end_record
check late.trace "its end" 'r["file"]["ended"]'

# ---- another agent whose start fails ----
status=0
"$JAVA" "-agentpath:$OTHER=refuse" -version >out 2>&1 || status=$?
[[ $status -ne 0 ]] || fail "the JVM starts without an agent that it needs"
without=$status
status=0
braid record -o refused.trace -- "$JAVA" "-agentpath:$OTHER=refuse" -version >out 2>&1 || status=$?
[[ $status -eq $without ]] || fail "exit status $status, and $without without braid: $(cat out)"
braid info refused.trace >/dev/null

# ---- braid's agent that finds no collector: the JVM and the other agent are as they would be ----
mkfifo lonely.in
"$JAVA" "-agentpath:$BUILD/libbraid-agent.so=sock=/nonexistent/braid,nonsense" "-agentpath:$OTHER=$PWD/lonely" \
	-cp "$CLASSES" Worker <lonely.in >lonely.out 2>lonely.err &
JAVA_PID=$!
open_worker lonely
ask lonely gc 3
end_worker lonely "$JAVA_PID"
read -r SAMPLES COLLECTIONS _ < <(od -An -v -td8 -w56 lonely)
[[ $COLLECTIONS -ge 3 ]] || fail "the other agent has seen $COLLECTIONS of 3 collections"
[[ $(java_version) -lt 11 || $SAMPLES -gt 0 ]] || fail "the other agent has no samples"
[[ ! -s lonely.err ]] || fail "the agent talks: $(cat lonely.err)"

# ---- one that is loaded later, and fails ----
if [[ $(java_version) -ge 9 && -x $JAVA_HOME/bin/jcmd ]]; then
	start_worker visited
	start_record -F 499 -e cpu,gc -p "$JAVA_PID" -o visited.trace
	wait_joined "$JAVA_PID"
	wait_events "$JAVA_PID"
	"$JAVA_HOME/bin/jcmd" "$JAVA_PID" JVMTI.agent_load "$OTHER" refuse >out 2>&1 || true
	grep -q 'return code: 3' out || fail "the other agent was let in: $(cat out)"
	burn visited 200
	ask visited gc 3
	stop_record
	end_worker visited "$JAVA_PID"
	check visited.trace "stacks" 'mostly_whole(with_frame("Worker.spin")) and all_named(with_frame("Worker.spin"))'
	events visited.trace "collections" 'len(of("gc_pause")) >= 3' "nothing lost" 'lost == []'
fi
