#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The profiles that a Go program writes of itself become traces: pprof's own tool finds the same functions with the same
# samples, of the same label, and the same bytes.
# class: normal
# takes: 6 s
source "$(dirname "$0")/../lib.sh"

export GOCACHE=$PWD/cache GO111MODULE=off GOFLAGS=
go build -o program "$TEST_DIR/profile.go" || fail "the program does not compile"
./program cpu.pb.gz heap.pb.gz >program.out || fail "the program"

# top FILE INDEX OPTION...: "weight function" for each that has weight itself, by pprof's own tool; the sum first
top()
{
	local file=$1 index=$2

	shift 2
	go tool pprof -top -sample_index="$index" -unit="${UNIT:-count}" -nodecount=100000 -nodefraction=0 "$@" "$file" 2>err >top.out ||
		fail "pprof: $(cat err)"
	sed '1,/flat%/d; s/^ *//; s/ (inline)$//' top.out | sed -nE 's/^([1-9][0-9]*)[A-Z]* +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +/\1 /p'
}

# leaves: the same of collapsed stacks
leaves()
{
	awk '{ weight = $NF; sub(/ [0-9]+$/, ""); sub(/.*;/, ""); sum[$0] += weight } END { for (f in sum) print sum[f], f }'
}

same()
{
	[[ -s was ]] || fail "$1: pprof finds nothing"
	sort was >was.sorted
	sort is | cmp - was.sorted || fail "$1 differs: $(sort is | diff - was.sorted)"
}

braid import -o cpu.trace cpu.pb.gz >out 2>err || fail "$(cat err)"
[[ ! -s err ]] || fail "$(cat err)"
top cpu.pb.gz samples >was
braid export cpu.trace | leaves >is
same "samples"
grep -q ' main\.sum$' is || fail "the function that computes has no samples: $(cat is)"
samples=$(awk '{ sum += $1 } END { print sum }' was)
grep -q "^cpu.trace: $samples samples and 0 other events from pprof" out || fail "$samples: $(cat out)"
top cpu.pb.gz samples -tagfocus=thread=summing >was
braid export --threads cpu.trace >threads
grep '^\[summing[] ]' threads | leaves >is
same "samples with a label"
gzip -dc cpu.pb.gz >cpu.pb
braid import -o plain.trace cpu.pb >/dev/null
braid export cpu.trace >was
braid export plain.trace | cmp - was || fail "the profile differs when it is not packed"

braid import -o heap.trace heap.pb.gz >out 2>err || fail "$(cat err)"
for index in inuse_space alloc_space; do
	event="$index (bytes)"
	[[ $index != alloc_space ]] || event=alloc
	UNIT=B top heap.pb.gz "$index" >was
	braid export --event "$event" heap.trace | leaves >is
	same "$index"
	grep -q ' main\.keep$' is || fail "$index: what keeps 64 MiB has none of it"
done
