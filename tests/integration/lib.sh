# shellcheck shell=bash disable=SC2034 # the tests use what is set here
# SPDX-License-Identifier: Apache-2.0
# What every t_NAME.sh sources; each runs in its own empty directory with BUILD and JAVA_HOME set. Nothing here waits
# for a fixed time: functions wait for a condition, and give up long after it should hold.
set -Eeuo pipefail

# What others may have set: make passes on the PREFIX of its command line, and a JVM says which options it picked up.
unset PREFIX JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS DEBUGINFOD_URLS

LIMIT_S=90
JAVA=$JAVA_HOME/bin/java
CLASSES=$BUILD/java
LIB_DIR=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
TEST_DIR=$(dirname "$(readlink -f "$0")")
export PYTHONPATH=$LIB_DIR # for chance.py

fail()
{
	echo "FAILED: $*" >&2
	exit 1
}

skip()
{
	echo "cannot run here: $*"
	exit 77
}

trap 'echo "at line $LINENO: $BASH_COMMAND" >&2' ERR

[[ $(id -u) -eq 0 ]] || skip "recording needs root"

braid()
{
	[[ $1 != record ]] || alone_if_all "$@"
	"$BUILD/braid" "$@"
}

# A recording of the whole machine attaches to the JVMs of concurrent tests.
alone_if_all()
{
	[[ -n ${ALONE:-} || " $* " != *" -a "* ]] || fail "a test that records the whole machine needs '# alone: why' in its head"
}

# Goes in front of a command whose clock is compared with braid's: other programs rarely take a CPU from it between two
# readings.
UNDISTURBED=(nice -n -20)

# The same for a command that is to have one CPU: the first that this shell may use.
ON_ONE_CPU=(taskset -c "$(sed -n 's/^Cpus_allowed_list:\s*\([0-9]*\).*/\1/p' /proc/self/status)")

# Like grep -q at the end of a pipe, but it reads everything, so that no writer fails.
finds()
{
	[[ $(grep -c -- "$1") -gt 0 ]]
}

# ---- waiting ----

# To wait and look, this shell starts no programs: where that takes 5 ms, tests that wait would keep a CPU busy.
exec {NEVER}<> <(:) # a pipe that nobody writes to

# wait_for WHAT COMMAND...: waits until the command succeeds. It looks again after a third of the time that it has waited.
wait_for()
{
	local what=$1 end=$((SECONDS + LIMIT_S)) pause_ms=30 pause

	shift
	until "$@"; do
		[[ $SECONDS -lt $end ]] || fail "waited in vain for $what"
		printf -v pause '0.%03d' "$pause_ms"
		read -rt "$pause" -u "$NEVER" || true
		pause_ms=$((pause_ms * 4 / 3 < 300 ? pause_ms * 4 / 3 : 300))
	done
}

# wait_end PID WHAT: waits for the end of a background job; STATUS is its exit status.
wait_end()
{
	wait_for "the end of $2" gone_or_zombie "$1"
	STATUS=0
	wait "$1" || STATUS=$?
}

# A process whose first thread has ended is in the state of a zombie, but it may have other threads.
gone_or_zombie()
{
	local stat
	local -a tasks

	text_of "/proc/$1/stat" stat
	stat=${stat##*) }
	tasks=("/proc/$1/task"/*)
	[[ (-z $stat || $stat == Z*) && ${#tasks[@]} -le 1 ]]
}

# text_of FILE NAME: sets the variable to the file's text; to nothing if there is no such file.
text_of()
{
	printf -v "$2" ''
	{ IFS= read -rd '' "$2" <"$1"; } 2>/dev/null || true
}

# ---- Java programs ----

# version_of JAVA_HOME: the feature release of the JDK there: 8, 17; nothing if there is none. A JVM is started only where no
# file says it.
version_of()
{
	local release

	text_of "$1/release" release
	if [[ $release =~ JAVA_VERSION=\"(1\.)?([0-9]+) ]]; then
		echo "${BASH_REMATCH[2]}"
	else
		"$1/bin/java" -version 2>&1 | sed -n 's/.* version "\(1\.\)\?\([0-9]*\).*/\2/p'
	fi
}

java_version()
{
	version_of "${JAVA%/bin/java}"
}

# start_worker NAME JAVA-OPTION...: starts a Worker JVM that obeys ask(). Sets JAVA_PID. PREFIX is a command in front of
# java.
start_worker()
{
	local name=$1

	shift
	rm -f "$name.in" "$name.out" # an earlier worker's words are not this one's
	mkfifo "$name.in"
	${PREFIX:-} "$JAVA" "$@" -cp "$CLASSES" Worker <"$name.in" >"$name.out" 2>"$name.err" &
	JAVA_PID=$!
	open_worker "$name"
}

# open_worker NAME [PID]: the last background job, or PID, is or becomes the worker. This shell keeps the writing end
# open, so that the worker gets no end of file before end_worker.
open_worker()
{
	local fd

	exec {fd}>"$1.in"
	eval "FD_${1//[^a-z0-9]/_}=$fd"
	wait_for "the start of $1" ready_or_gone "$1" "${2:-$!}"
	grep -qs '^ready' "$1.out" || fail "$1 did not start: $(cat "$1.err")"
}

ready_or_gone()
{
	says_or_gone "$1.out" '^ready' "$2"
}

# says_or_gone FILE PATTERN PID: FILE has PATTERN, or the process that would write it has ended.
says_or_gone()
{
	local said

	text_of "$1" said
	[[ $'\n'$said =~ ${2/#^/$'\n'} ]] || gone_or_zombie "$3"
}

# tell NAME COMMAND...: sends a command without waiting.
tell()
{
	local name=$1 fd="FD_${1//[^a-z0-9]/_}"

	shift
	echo "$@" >&"${!fd}"
}

# ask NAME COMMAND...: sends a command and waits until the worker has done it; its answer is in ANSWER.
ask()
{
	local name=$1 before

	shift
	before=$(wc -l <"$name.out")
	tell "$name" "$@"
	wait_for "the answer of $name to: $*" answered "$name" "$before"
	ANSWER=$(tail -n +$((before + 1)) "$name.out" | grep '^done' | tail -n 1)
}

answered()
{
	local IFS=$'\n'
	local -a answers

	mapfile -t -s "$2" answers <"$1.out"
	[[ $IFS${answers[*]} == *"$IFS"done* ]]
}

# end_worker NAME PID
end_worker()
{
	tell "$1" exit
	wait_end "$2" "$1"
	[[ $STATUS -eq 0 ]] || fail "$1 ended with $STATUS: $(cat "$1.err")"
}

# start_program FILE COMMAND...: starts a program that writes "ready" to FILE and then reads a line, which go_on()
# sends. Sets JAVA_PID.
start_program()
{
	local file=$1

	shift
	rm -f in "$file"
	mkfifo in
	"$@" <in >"$file" 2>err &
	JAVA_PID=$!
	exec {IN}>in
	wait_for "the program" says_or_gone "$file" ready "$JAVA_PID"
	grep -qs ready "$file" || fail "the program did not start: $(cat "$file" err)"
}

go_on()
{
	echo >&"$IN"
}

# wait_says FILE WORD: waits until the program of start_program() has written WORD.
wait_says()
{
	wait_for "'$2' from the program" says_or_gone "$1" "$2" "$JAVA_PID"
	grep -qs -- "$2" "$1" || fail "the program ended without '$2': $(cat "$1" err)"
}

# end_program: sends a last line, after which the program must exit with 0.
end_program()
{
	go_on
	exec {IN}>&-
	wait_end "$JAVA_PID" "the program"
	[[ $STATUS -eq 0 ]] || fail "the program ended with $STATUS: $(cat err)"
}

# need_jdk LEAST: sets JDK to the tests' JDK, or to any installed one, of at least this version. VTHREAD_JAVA_HOME
# overrides it.
need_jdk()
{
	local home

	for home in "$JAVA_HOME" ${VTHREAD_JAVA_HOME:+"$VTHREAD_JAVA_HOME"} /usr/lib/jvm/* \
		"${XDG_CACHE_HOME:-${HOME:-/root}/.cache}"/jdks/*/usr/lib/jvm/java-*-openjdk-*; do
		if is_jdk "$home" "$1"; then
			JDK=$home
			return
		fi
	done
	skip "no JDK of $1 or newer is installed (VTHREAD_JAVA_HOME names one; tools/get-jdk 25 gets one)"
}

# Every installed JDK, one path a line; the tests' JDK comes first.
jdks()
{
	local home

	for home in "$JAVA_HOME" /usr/lib/jvm/* "${XDG_CACHE_HOME:-${HOME:-/root}/.cache}"/jdks/*/usr/lib/jvm/java-*-openjdk-*; do
		if [[ -x $home/bin/javac ]] && "$home/bin/java" -version &>/dev/null; then
			readlink -f "$home"
		fi
	done | awk '!seen[$0]++'
}

# Whether JAVA_HOME has a JDK of at least this version, and it runs.
is_jdk()
{
	local version

	[[ -x $1/bin/javac ]] && version=$(version_of "$1") && [[ ${version:-0} -ge $2 ]] &&
		[[ $1 == "$JAVA_HOME" || $("$1/bin/java" -version 2>&1) == *version* ]]
}

# on_each_version LEAST COMMAND: runs the command with one JDK of each installed version from LEAST on.
on_each_version()
{
	local home version tried=

	need_jdk "$1"
	while read -r home; do
		version=$(version_of "$home")
		[[ $version -ge $1 ]] || continue
		[[ " $tried " == *" $version "* ]] && continue
		tried+=" $version"
		"$2" "$home"
	done < <(jdks)
}

# ---- recordings ----

# start_record OPTION...: records in the background; messages are in record.err. Sets RECORD_PID.
start_record()
{
	alone_if_all "$@"
	rm -f record.out record.err # an earlier recorder's words are not this one's
	"$BUILD/braid" record "$@" >record.out 2>record.err &
	RECORD_PID=$!
}

# perf_events EACH MORE: whether the recorder has EACH perf events for each CPU that is online and MORE others, or has ended.
perf_events()
{
	local fds

	: "${CPUS_ONLINE:=$(getconf _NPROCESSORS_ONLN)}"
	fds=$(ls -l "/proc/$RECORD_PID/fd" 2>/dev/null) || true
	fds=${fds//perf_event]/@}
	fds=${fds//[^@]/}
	[[ ${#fds} -ge $(($1 * CPUS_ONLINE + $2)) ]] || gone_or_zombie "$RECORD_PID"
}

# The side-band, and the samples, which are opened last.
wait_sampling()
{
	wait_for "the first sample" perf_events 2 0
}

# The recorder itself answers. Until it can, one that records the whole machine answers for its process.
answers()
{
	local answer

	braid ctl "$RECORD_PID" status >ctl.answer 2>/dev/null || return 1
	text_of ctl.answer answer
	[[ $answer == "recorder $RECORD_PID:"* || $answer == *$'\n'"recorder $RECORD_PID:"* ]]
}

# The agents of this recording have answered every change.
have_answered()
{
	answers && ! finds 'no answer yet' <ctl.answer
}

wait_answered()
{
	wait_for "the agents' answer" have_answered
}

# An agent answers a change when it has reported what is older than itself.
wait_replayed()
{
	wait_joined "$1"
	braid ctl "$RECORD_PID" interval lock=1ms >/dev/null
	wait_answered
}

# samples [RECORDER]: the samples that the recorder (RECORD_PID) has received; empty when it does not answer.
samples()
{
	local recorder=${1:-$RECORD_PID} answer

	answer=$(braid ctl "$recorder" status --json 2>/dev/null) || true
	if [[ $answer == '[{"recorder":'"$recorder,"* && $answer =~ '"samples":'([0-9]+) ]]; then
		echo "${BASH_REMATCH[1]}"
	fi
}

# wait_samples COUNT [RECORDER]: waits until the recorder has received COUNT more, however long this machine needs.
wait_samples()
{
	local before

	before=$(samples "${2:-$RECORD_PID}")
	wait_for "$1 more samples" more_samples $((${before:-0} + $1)) "${2:-$RECORD_PID}"
}

more_samples()
{
	local now

	now=$(samples "$2")
	[[ ${now:-0} -ge $1 ]] || gone_or_zombie "$2"
}

# burn NAME COUNT [RECORDER]: the worker's old threads burn CPU time, each the same, until COUNT more samples are taken.
burn()
{
	local before

	before=$(samples "${3:-$RECORD_PID}")
	while ask "$1" burn 100 && ! more_samples $((${before:-0} + $2)) "${3:-$RECORD_PID}"; do :; done
}

# Ends the recording with Ctrl-C; it must exit with 0.
stop_record()
{
	kill -INT "$RECORD_PID"
	end_record
}

end_record()
{
	wait_end "$RECORD_PID" "the recording"
	[[ $STATUS -eq 0 ]] || fail "braid record ended with $STATUS: $(cat record.err)"
}

# The agent has connected to a running recording: its ring is mapped.
has_ring()
{
	grep -qs 'bpf-map' "/proc/$1/maps"
}

# Its events are enabled, too: that precedes the start of its thread.
has_helper()
{
	grep -qsx 'braid agent' /proc/"$1"/task/*/comm
}

wait_events()
{
	wait_own "$1"
	wait_for "the events of process $1" has_helper "$1"
}

# The agent of this very recording has connected: another recorder may have loaded its own.
joined()
{
	answers && finds "JVM $1 .*connected" <ctl.answer
}

wait_joined()
{
	wait_for "the agent of $RECORD_PID in process $1" joined "$1"
}

# The same, if there is a recorder; wait_attached and wait_events begin with it. Recorders of the whole machine load theirs into every JVM.
wait_own()
{
	[[ -z ${RECORD_PID:-} ]] || gone_or_zombie "$RECORD_PID" || wait_joined "$1"
}

# own_copies PID: the loaded copies of this build's agent; copies of other recorders do not count.
own_copies()
{
	local range

	awk '$2 ~ "x" && $6 ~ "/libbraid-agent.so$" { print $1 }' "/proc/$1/maps" | while read -r range; do
		! cmp -s "/proc/$1/map_files/$range" "$BUILD/libbraid-agent.so" || echo "$range"
	done | wc -l
}

no_ring()
{
	! has_ring "$1"
}

# The agent's staging directories, as process PID sees them, for no_leftovers().
LAID_DOWN=()
wait_attached()
{
	local dir

	wait_own "$1"
	wait_for "the agent in process $1" has_ring "$1"
	dir=$(sed -n 's|.* \(/.*/\.braid-[0-9a-f]*\)/libbraid-agent.so.*|\1|p' "/proc/$1/maps" | tail -n 1)
	[[ -n $dir ]] || fail "process $1 has a ring and no agent"
	LAID_DOWN+=("${2:-}$dir" "${2:-}/tmp/.attach_pid$1")
}

no_leftovers()
{
	local path

	for path in "${LAID_DOWN[@]}"; do
		[[ ! -e $path ]] || fail "left behind: $path"
	done
}

# wait_child PID PROGRAM: sets CHILD to the pid of the child that runs it.
wait_child()
{
	wait_for "$2 below process $1" child_runs "$1" "$2"
}

child_runs()
{
	local -a children

	# Any thread may be the parent.
	read -ra children -d '' < <(cat /proc/"$1"/task/*/children 2>/dev/null) || true
	for CHILD in "${children[@]}"; do
		[[ $(readlink "/proc/$CHILD/exe") != */$2 ]] || return 0
	done
	return 1
}

# ---- reading ----

# check FILE WHAT EXPRESSION [WHAT EXPRESSION]...: evaluates Python expressions; query.py describes what they can use.
# The test fails with the first false one.
check()
{
	local file=$1

	shift
	if [[ ! -e $file.json || $file -nt $file.json ]]; then
		braid info --json "$file" >"$file.info"
		braid export --format collapsed --annotate "$file" >"$file.collapsed"
		braid report --json --top 1000000 "$file" >"$file.json"
	fi
	python3 -S "$LIB_DIR/query.py" "$file" "$@" || {
		braid info "$file" >&2 || true
		fail "see above"
	}
}

# events FILE WHAT EXPRESSION [WHAT EXPRESSION]...: the same for JVM events and the program's output in FILE.truth; see
# events.py.
events()
{
	local file=$1

	shift
	BUILD=$BUILD python3 -S "$LIB_DIR/events.py" "$file" "$@" || {
		braid info "$file" >&2 || true
		fail "see above"
	}
}

# Exactly one line on standard error, which begins with "braid: ", and nothing on standard output.
one_line_error()
{
	[[ ! -s $1 ]] || fail "wrote to standard output: $(head -c 300 "$1")"
	[[ $(wc -l <"$2") -eq 1 ]] || fail "not one line: $(cat "$2")"
	grep -q '^braid' "$2" || fail "not braid's own words: $(cat "$2")"
}

# A small trace of a Java program for all tests that only read one. The first of them records it; SAMPLE is its path.
need_sample()
{
	local dir=${SUITE_DIR:-$PWD}

	SAMPLE=$dir/sample.trace
	exec 9>"$dir/sample.lock"
	flock 9
	# The lock must not be inherited.
	[[ -e $SAMPLE ]] || make_sample "$SAMPLE" 9>&-
	exec 9>&-
}

make_sample()
{
	start_worker sample
	start_record -F 997 -p "$JAVA_PID" -o sample.new
	wait_attached "$JAVA_PID"
	burn sample 500
	ask sample threads 5
	ask sample gc 2
	burn sample 500
	stop_record
	end_worker sample "$JAVA_PID"
	mv sample.new "$1"
}

# attach_midway RECORD-OPTION... -- COMMAND...: records attach.trace of a program that already runs, after its "ready".
# The program continues when it gets a line and writes "end"; another line ends it. Its output is attach.trace.truth.
# With -F, its first sample can be taken before it continues.
attach_midway()
{
	local -a options=()

	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift
	start_program attach.trace.truth "$@"
	start_record "${options[@]}" -p "$JAVA_PID" -o attach.trace
	wait_attached "$JAVA_PID"
	[[ " ${options[*]} " != *" -F "* ]] || wait_sampling
	go_on
	wait_says attach.trace.truth end
	stop_record
	end_program
}

# ---- the same in every mode of execution ----

# shares_are_right JAVA-OPTION...: three branches burn 50, 30 and 20 percent. The report must agree with the program's
# own CPU clock, which does not depend on the load. It goes on while the hypervisor gives a CPU to others, and no sample is
# taken then: two points are for that.
shares_are_right()
{
	local half third fifth

	braid record -F 4999 -o share.trace -- "$JAVA" "$@" -cp "$CLASSES" Share 80 >shares 2>record.err
	read -r half third fifth <shares
	check share.trace \
		"stacks" 'mostly_whole(with_frame("Share.spin")) and all_named(with_frame("Share.spin")) and i["lost"] == {}' \
		"half: $half" "about(total('Share.half'), total('Share.main'), 100 * $half, 2)" \
		"third: $third" "about(total('Share.third'), total('Share.main'), 100 * $third, 2)" \
		"fifth: $fifth" "about(total('Share.fifth'), total('Share.main'), 100 * $fifth, 2)"
}

# deep_is_whole JAVA-OPTION...: every stack that burns has all DEPTH (1,500) frames of the recursion, once each. HZ
# (997); ROUNDS before; MS of CPU time (400).
deep_is_whole()
{
	local depth=${DEPTH:-1500} hz=${HZ:-997} ms=${MS:-400}

	braid record -F "$hz" -o deep.trace -- "$JAVA" "$@" -cp "$CLASSES" Deep "$depth" "$ms" ${ROUNDS:+"$ROUNDS"} 2>record.err
	check deep.trace \
		"stacks" "mostly_whole(with_frame('Deep.burn')) and enough(weight(with_frame('Deep.burn')), $hz * $ms / 1000)" \
		"all frames of the recursion" \
		"at_least(weight([(s, n) for s, n in with_frame('Deep.burn') if list(map(plain, s)).count('Deep.dive') == $depth]),
			weight(with_frame('Deep.burn')), 99)"
}
