#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# JVMs in their own mount, pid, user and cgroup namespaces, and in control groups as container engines name them, that
# start after the recording: each is found, joined and named by its container in every view.
# alone: it attaches to every JVM there is
source "$(dirname "$0")/../lib.sh"

unshare -m -p -f -U -r -C --mount-proc true || skip "no namespaces"
# The hierarchy of cgroup v2, or any of v1.
top=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
top=${top:-$(awk '$3 == "cgroup" && $4 ~ /pids|systemd/ { print $2; exit }' /proc/mounts)}
made=()
trap 'rmdir "${made[@]}" || true' EXIT
declare -A id group pid outer
for name in one two; do
	id[$name]=$(printf '%s%s' "$name" "$$" | sha256sum | cut -d ' ' -f 1)
	group[$name]=$top/docker-${id[$name]}.scope
	mkdir "${group[$name]}" 2>/dev/null || skip "no control group can be made in '$top'"
	made+=("${group[$name]}")
done

# start_container NAME: a Worker in a container; its pid on this machine is in pid[NAME].
start_container()
{
	local name=$1

	mkfifo "$name.in"
	bash -c 'echo $$ >"$1/cgroup.procs"; shift; exec unshare -m -p -f -U -r -C --mount-proc "$@"' bash \
		"${group[$name]}" "$JAVA" -cp "$CLASSES" Worker <"$name.in" >"$name.out" 2>"$name.err" &
	outer[$name]=$!
	open_worker "$name"
	wait_child "${outer[$name]}" java
	pid[$name]=$CHILD
}

start_record -F 499 -e cpu,offcpu,thread -e 'syscalls:sys_exit_read/comm=="java"/' -a -o all.trace
wait_sampling
for name in one two; do
	start_container "$name"
	wait_attached "${pid[$name]}" "/proc/${pid[$name]}/root"
done
burn one 100
burn two 100
stop_record
for name in one two; do
	end_worker "$name" "${outer[$name]}"
done

check all.trace \
	"both are named" "{p['pid']: p.get('container') for p in r['processes'] if p['pid'] in (${pid[one]}, ${pid[two]})} ==
		{${pid[one]}: '${id[one]:0:12}', ${pid[two]}: '${id[two]:0:12}'}" \
	"with their groups" "all(p['cgroup'].endswith(g) for g, n in (('docker-${id[one]}.scope', ${pid[one]}), ('docker-${id[two]}.scope', ${pid[two]}))
		for p in r['processes'] if p['pid'] == n)" \
	"and joined" "all(jvm(n)['methods'] > 0 for n in (${pid[one]}, ${pid[two]}))" \
	"this one is in neither" "all('${id[one]:0:12}' not in p.get('container', '') for p in r['processes'] if p['name'] == 'braid')"

# One of them alone, in each view.
label=java@${id[one]:0:12}
other=${id[two]:0:12}
braid report --full --cgroup "${id[one]}" all.trace >one.txt
braid report --wall --cgroup "${id[one]}" all.trace >wall.txt
braid report --html one.html --cgroup "${id[one]}" all.trace
for view in one.txt wall.txt; do
	grep -qF "$label" "$view" || fail "no $label: $(head -n 40 "$view")"
	! grep -qF "$other" "$view" || fail "the other one, too: $(head -n 40 "$view")"
done
grep -qF "control group '${id[one]}'" one.txt || fail "the filter is not named: $(head -n 20 one.txt)"
grep -qF "$label" one.html || fail "the page has no $label"
braid script --cgroup "${id[two]}" all.trace >two.txt
grep -q "${pid[two]}/" two.txt || fail "no records of the second one"
! grep -q "${pid[one]}/" two.txt || fail "records of the first one"

# The same with its threads: in spans, in explanations, at one moment, and in front of each record.
container=${id[one]:0:12}
braid report --by span --span read..read --cgroup "${id[one]}" all.trace >spans.txt
grep -qF ", $label" spans.txt || fail "spans: no $label: $(head -n 5 spans.txt)"
braid report --by span --span read..read --cgroup "${id[one]}" --json all.trace >spans.json
braid explain --thread "${pid[one]}" all.trace >explain.txt
head -n 1 explain.txt | grep -qF "(${pid[one]}, $label) took" || fail "explain: no $label: $(head -n 1 explain.txt)"
braid explain --thread "${pid[one]}" --json all.trace >explain.json
at=$(python3 -c 'import json; e = json.load(open("explain.json")); print("%.6f" % ((e["from_s"] + e["to_s"]) / 2))')
braid at --all --top 100000 all.trace "$at" >at.txt
grep -qF "(${pid[one]}, $label): " at.txt || fail "at $at: no $label: $(head -n 40 at.txt)"
braid at --all --json all.trace "$at" >at.json
python3 - "$container" "${pid[one]}" <<'END'
import json, sys

container, pid = sys.argv[1], int(sys.argv[2])
spans = json.load(open("spans.json"))["by_samples"]
assert spans and all(s["container"] == container for s in spans), spans
assert json.load(open("explain.json"))["container"] == container
threads = json.load(open("at.json"))["threads"]
assert {t.get("container") for t in threads if t["pid"] == pid} == {container}, threads
END
braid script --cgroup "${id[one]}" all.trace >one.script
[[ $(grep -c "^# container $container\$" one.script) -gt 0 && $(grep -c '^# container ' one.script) -eq $(grep -c "^# container $container\$" one.script) ]] ||
	fail "script: not each record has its container: $(grep '^#' one.script | sort | uniq -c)"
