#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Generated code gets its names from perf maps, if the map belongs to the program.
source "$(dirname "$0")/../lib.sh"

"${CC:-gcc}" -std=gnu11 -O1 -fno-optimize-sibling-calls "$TEST_DIR/generated.c" -o generated
mkdir tmp
cp generated tmp/
PIDS=() INPUTS=()
# begin NAME [HOW]: starts the program in the background, with PREFIX in front.
begin()
{
	local fd

	mkfifo "$1.in"
	${PREFIX:-} ./generated "$@" <"$1.in" >"$1.out" &
	PIDS+=($!)
	exec {fd}>"$1.in"
	INPUTS+=("$fd")
	wait_for "program $1" grep -qs ready "$1.out"
}

begin own
begin link link
begin other 12345
begin root 65534
targets=$(IFS=,; echo "${PIDS[*]}")
if unshare -m -p -f --mount-proc true; then
	cat >enter.sh <<-END
		mount --bind tmp /tmp && exec /tmp/generated inside
	END
	mkfifo inside.in
	unshare -m -p -f --mount-proc bash enter.sh <inside.in >inside.out &
	PIDS+=($!)
	exec {fd}>inside.in
	INPUTS+=("$fd")
	wait_for "program inside" grep -qs ready inside.out
	wait_child "${PIDS[-1]}" generated
	targets+=,$CHILD
fi
start_record -F 499 -p "$targets" -o map.trace
wait_sampling
for fd in "${INPUTS[@]}"; do
	echo >&"$fd"
done
for out in *.out; do
	[[ $out == record.out ]] || wait_for "the end of $out" grep -qs end "$out"
done
echo >&"${INPUTS[0]}" # names are known even if the program and its map no longer exist at the end
wait_end "${PIDS[0]}" "program own"
stop_record
for fd in "${INPUTS[@]:1}"; do
	echo >&"$fd"
done
rm -f /tmp/perf-"${PIDS[1]}".map /tmp/perf-"${PIDS[2]}".map
for pid in "${PIDS[1]}" "${PIDS[2]}"; do
	[[ $(grep -c "perf map of process $pid is not read" record.err) -eq 1 ]] || fail "$pid: $(cat record.err)"
done
check map.trace \
	"own" 'weight(with_frame("inner_own(a b)")) > 20 and mostly_whole(with_frame("inner_own(a b)"))' \
	"callers" 'at_least(weight([x for x in with_frame("inner_own(a b)") if "outer_own" in list(map(plain, x[0])) and "main" in list(map(plain, x[0]))]),
		weight(with_frame("inner_own(a b)")), 99)' \
	"of the program's user" 'weight(with_frame("inner_root(a b)")) > 20' \
	"a link is not followed" 'not with_frame("inner_link(a b)")' \
	"of another user" 'not with_frame("inner_other(a b)")' \
	"the last line counts" 'not with_frame("inner_of_former_code") and not with_frame("not_yet_ended")'
[[ ! -e inside.in ]] || check map.trace "in a container" 'weight(with_frame("inner_inside(a b)")) > 20'
