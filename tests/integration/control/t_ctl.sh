#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recording is changed while it runs: only by its user and root, with a record in the trace; other users cannot block
# it.
# alone: it opens the recorders' directory to other users for a while
# takes: 12 s
source "$(dirname "$0")/../lib.sh"

CONTROL_VERSION=$(sed -n 's/#define BRAID_CONTROL_VERSION \([0-9]*\)U/\1/p' "$LIB_DIR/../../include/braid/control.h")
export CONTROL_VERSION # for control.py
socket_of()
{
	echo "/run/braid/$1.sock"
}
# told FILE KIND...: the number of JVM events of these kinds
told()
{
	local file=$1 kinds=$2

	braid script --raw "$file" | grep -cE "^jvm_event .* kind=($kinds) " || true
}
# refused TEXT ARGUMENT...: exit status 1 and one line that contains TEXT
refused()
{
	local text=$1 status=0

	shift
	braid ctl "$@" >out 2>err || status=$?
	[[ $status -eq 1 ]] || fail "ctl $*: exit status $status: $(cat out err)"
	[[ $(wc -l <err) -eq 1 ]] || fail "ctl $*: not one line: $(cat err)"
	grep -q "$text" err || fail "ctl $*: expected '$text': $(cat err)"
}
usage()
{
	local status=0

	braid ctl "$@" >out 2>err || status=$?
	[[ $status -eq 2 && ! -s out ]] || fail "ctl $*: exit status $status: $(cat out err)"
}
status_of()
{
	wait_answered
	braid ctl "$1" status --json >status.json
	python3 -c 'import json, sys; s = json.load(open("status.json"))[0]; j = s["jvms"][0]; assert eval(sys.argv[1]), s' "$2" ||
		fail "the status does not say $2: $(cat status.json)"
}

start_worker jvm
start_record -F 997 -e cpu,gc -p "$JAVA_PID" -o a.trace
wait_joined "$JAVA_PID"
wait_sampling
[[ $(stat -c '%a %u' /run/braid) == "700 0" ]] || fail "the directory: $(stat /run/braid)"
[[ $(stat -c '%a' "$(socket_of "$RECORD_PID")") == 600 ]] || fail "the socket: $(stat "$(socket_of "$RECORD_PID")")"

# ---- what is changed shows in the trace ----
ask jvm threads 3
braid ctl "$JAVA_PID" enable thread,lock=1ms >out
grep -q "^process $JAVA_PID: cpu,lock=1ms,gc,thread" out || fail "enable: $(cat out)"
status_of "$JAVA_PID" "set(j['choices']) == {'cpu', 'gc', 'thread', 'lock'} and j['lock_min_ns'] == 1000000 and j['agent'] == 'connected'"
ask jvm threads 5
braid ctl "$RECORD_PID" disable thread,lock >out
status_of "$JAVA_PID" "set(j['choices']) == {'cpu', 'gc'} and set(s['choices']) == {'cpu', 'gc'}"
ask jvm threads 7
braid ctl "$RECORD_PID,$JAVA_PID" interval alloc=1m,lock=2us >out
status_of "$RECORD_PID" "j['alloc_interval'] == 1 << 20 and j['malloc_interval'] > 0 and j['lock_min_ns'] == 2000 and s['lock_min_ns'] == 2000 and 'alloc' not in j['choices']"

# ---- samples stop and go on ----
burn jvm 300
braid ctl "$RECORD_PID" disable cpu >out
before=$(samples)
ask jvm burn 1000
after=$(samples)
[[ $((after - before)) -lt 100 ]] || fail "$((after - before)) samples while there were to be none"
braid ctl "$RECORD_PID" enable cpu >out
burn jvm 300

# ---- what cannot be ----
sleep 86400 &
sleeper=$!
refused "process 1 is not being recorded" 1 gc
refused "process $sleeper is not being recorded" "$sleeper" status
refused "only be enabled in a recording that started with -e safepoint" "$JAVA_PID" enable safepoint
refused "agent must be loaded when the JVM starts" "$JAVA_PID" enable exception
braid ctl "$JAVA_PID" disable exception >out
refused "name its recorder, process $RECORD_PID" "$JAVA_PID" disable cpu
kill "$sleeper"
usage "$JAVA_PID" enable
usage "$JAVA_PID" enable nonsense
usage "$JAVA_PID" enable cycles
usage "$JAVA_PID" disable alloc=1m
usage "$JAVA_PID" interval alloc
usage "$JAVA_PID" interval lock=forever
usage "$JAVA_PID" gc now
usage "$JAVA_PID" explode
usage "$JAVA_PID"
usage enable alloc
usage 12x gc
usage

# ---- who may not ----
mkdir user
cp "$BUILD/braid" user/
chmod 755 user/braid
nobody()
{
	(cd user && exec setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@")
}
if nobody ./braid --version >out; then
	for runtime in "" "$PWD/user" /run; do
		status=0
		XDG_RUNTIME_DIR=$runtime nobody ./braid ctl "$JAVA_PID" status >out 2>err || status=$?
		[[ $status -eq 1 && ! -s out ]] || fail "the refused user got an answer: $(cat out err)"
	done
	PATH=/usr/bin:/bin nobody python3 - "$(socket_of "$RECORD_PID")" refused <"$TEST_DIR/control.py"
	chmod 711 /run/braid
	chmod 666 "$(socket_of "$RECORD_PID")"
	PATH=/usr/bin:/bin nobody python3 - "$(socket_of "$RECORD_PID")" refused <"$TEST_DIR/control.py"
	chmod 700 /run/braid
fi

# ---- nonsense, and clients that neither speak nor listen ----
python3 "$TEST_DIR/control.py" "$(socket_of "$RECORD_PID")" nonsense
python3 "$TEST_DIR/control.py" "$(socket_of "$RECORD_PID")" twice
mkfifo hold
python3 "$TEST_DIR/control.py" "$(socket_of "$RECORD_PID")" silent <hold >held &
holder=$!
exec {hold}>hold
wait_for "clients that say nothing" grep -q holding held
status_of "$JAVA_PID" "j['agent'] == 'connected'"
ask jvm threads 1
exec {hold}>&-
wait_end "$holder" "the clients"
status_of "$JAVA_PID" "set(j['choices']) == {'cpu', 'gc'}"

# ---- two recorders of one JVM: both are told; a killed one is not in the way ----
first=$RECORD_PID
"$BUILD/braid" record -e cpu -p "$JAVA_PID" -o b.trace 2>second.err &
second=$!
second_listens()
{
	braid ctl status 2>/dev/null | finds "^recorder $second:"
}
wait_for "the second recorder" second_listens
recorders()
{
	braid ctl status | grep -cE "^recorder ($first|$second):"
}
[[ $(recorders) -eq 2 ]] || fail "not two recorders: $(braid ctl status)"
braid ctl "$JAVA_PID" interval lock=3us >out
braid ctl "$JAVA_PID" status --json >status.json
python3 -c 'import json; s = json.load(open("status.json")); j = [j for r in s for j in r["jvms"] if j["agent"] != "no agent"]
assert j and all(j["lock_min_ns"] == 3000 for j in j), s' ||
	fail "not all recorders and JVMs are configured: $(cat status.json)"
kill -9 "$second"
wait_end "$second" "the second recorder"
[[ $(recorders) -eq 1 ]] || fail "still two recorders: $(braid ctl status)"
start_record -p "$JAVA_PID" -o c.trace -d 0.1
end_record
[[ ! -e $(socket_of "$second") && ! -e $(socket_of "$RECORD_PID") ]] || fail "left: $(ls /run/braid)"

# ---- stop: as Ctrl-C, and done when it returns ----
stopped()
{
	[[ $STATUS -eq 0 ]] || fail "stop: $(cat out err)"
	grep -q "^recorder $RECORD_PID has ended: $1 is complete$" out || fail "stop: $(cat out err)"
	braid info --json "$1" >info.json
	python3 -c 'import json; assert json.load(open("info.json"))["file"]["ended"]' || fail "$1 is not complete"
	wait_end "$RECORD_PID" "the recording"
}
STATUS=0
braid ctl "$JAVA_PID" stop >out 2>err || STATUS=$? # recorders of the whole machine say the same for themselves
[[ $STATUS -eq 1 ]] || fail "ctl $JAVA_PID stop: exit status $STATUS: $(cat out err)"
grep -q "can only be stopped as a whole: .braid ctl $first stop" err || fail "ctl $JAVA_PID stop: $(cat err)"
usage "$first" stop now
start_record -e gc -p "$JAVA_PID" -o s.trace
wait_for "the recorder" test -S "$(socket_of "$RECORD_PID")"
STATUS=0
braid ctl "$RECORD_PID" stop >out 2>err || STATUS=$?
stopped s.trace
# the only recording needs no pid; other recorders on this machine are invisible
start_record -e gc -o t.trace -- sleep 86400
wait_for "the recorder" test -S "$(socket_of "$RECORD_PID")"
STATUS=0
# shellcheck disable=SC2016 # for the inner shell
unshare -m --propagation private bash -c 'mkdir all && mount --bind /run/braid all && mount -t tmpfs none /run &&
	mkdir -m 700 /run/braid && touch "/run/braid/$2.sock" && mount --bind "all/$2.sock" "/run/braid/$2.sock" && exec "$1" ctl stop' \
	sh "$BUILD/braid" "$RECORD_PID" >out 2>err || STATUS=$?
stopped t.trace

# ---- the end ----
end_worker jvm "$JAVA_PID"
RECORD_PID=$first
end_record
[[ ! -e $(socket_of "$first") ]] || fail "left behind: $(socket_of "$first")"
refused "is not being recorded" "$first" status

check a.trace "the recording" 'well() and alike("old-0", "old-1")'
[[ $(told a.trace 27) -ge 6 ]] || fail "changes in the trace: $(told a.trace 27)"
[[ $(told a.trace 11) -eq 5 ]] || fail "thread starts: $(told a.trace 11), expected 5 while they were enabled"
