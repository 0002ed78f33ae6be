#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Files of other tools become traces with the same counts and sums: a recording of the JDK's, and what braid exports.
# class: long
# takes: 5 s
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/flight.sh"

flight "$JAVA_HOME" "$CLASSES"

# A cut recording: what was whole is there, and the loss is said. The JDK's has one chunk, so there are two.
cat flight.jfr flight.jfr | head -c -100 >cut.jfr
status=0
braid import -o cut.trace cut.jfr >out 2>err || status=$?
[[ $status -eq 3 ]] || fail "a cut file: exit status $status"
grep -q "cut.jfr is damaged: .* bytes are left out; the chunk at byte [0-9]* cannot be read: the file ends" err || fail "$(cat err)"
count_of() { braid info --json "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)["samples"]["total"])'; }
[[ $(count_of cut.trace) -eq $(count_of flight.trace) ]] || fail "the whole chunk is not there"
braid info cut.trace | finds '^  import  *byte  *[0-9]' || fail "the loss is not in the trace"

# What braid writes comes back, from a pipe, too.
need_sample
braid export --annotate --threads "$SAMPLE" >was
braid import -o stacks.trace - <was >/dev/null
braid export --annotate --threads stacks.trace | cmp - was || fail "collapsed stacks differ"
# Packed ones, too, from standard input or not.
gzip -c was >stacks.gz
zstd -q -c was >stacks.zst
gzip -c flight.jfr >flight.jfr.gz
zstd -q -c flight.jfr >flight.jfr.zst
for by in gz zst; do
	braid import -o packed.trace stacks.$by >/dev/null
	braid export --annotate --threads packed.trace | cmp - was || fail "stacks packed by $by differ"
	braid import -o packed.trace - <flight.jfr.$by >/dev/null
	braid export packed.trace | cmp - flight.stacks || fail "the JDK's recording packed by $by differs"
	# What is missing is said, and the rest is there.
	status=0
	{ cat stacks.$by && head -c 100 stacks.$by; } >cut.$by
	braid import -o packed.trace cut.$by >/dev/null 2>err || status=$?
	[[ $status -eq 3 ]] || fail "a cut file packed by $by: exit status $status: $(cat err)"
	grep -q "is damaged: 1 packed rest is left out; it is packed by .* and ends early, behind byte" err ||
		fail "a cut file packed by $by: $(cat err)"
	braid export --annotate --threads packed.trace | cmp - was || fail "what is whole of a cut file packed by $by differs"
	braid info packed.trace | finds '^  import  *packed rest  *1' || fail "the loss is not in the trace"
done
braid script "$SAMPLE" | braid import -o script.trace - >out
[[ $(count_of script.trace) -eq $(count_of "$SAMPLE") ]] || fail "the samples of the script differ"
grep -q "^script.trace: $(count_of "$SAMPLE") samples and [1-9][0-9]* other events from perf script" out || fail "$(cat out)"
# Its events are what they were.
sums_of() { braid query --format tsv "$1" 'select kind, count(*), sum(duration_ns), sum(weight) from events group by kind order by kind'; }
sums_of "$SAMPLE" | grep -v '^config' >was
sums_of script.trace | cmp - was || fail "the events of the script differ: $(sums_of script.trace | diff - was)"
# What the recording lost is still lost, by its own hop; a script that lost nothing has an import that lost nothing.
losses_of() { braid query --format tsv "$1" 'select hop, kind, sum(count) from losses group by hop, kind order by hop, kind'; }
{ braid script "$SAMPLE" && echo 'braid 0/0 [000] 0.5: braid:loss: hop="bpf" kind="sample" count=41'; } | braid import -o lost.trace - >/dev/null
{ losses_of "$SAMPLE" && printf 'bpf\tsample\t41\n'; } >was
losses_of lost.trace | cmp - was || fail "the losses of the script differ: $(losses_of lost.trace | diff - was)"
braid script lost.trace | braid import -o again.trace - >/dev/null
losses_of again.trace | cmp - was || fail "the losses of an import's script differ"

# What has no times says so, and what is no recording is refused.
for command in "at stacks.trace 1" "script stacks.trace" "report --from 1 stacks.trace" "export --format chrome stacks.trace"; do
	# shellcheck disable=SC2086 # words
	! braid $command >out 2>err || fail "$command"
	grep -q "stacks.trace has no times, which .* needs: it was imported from collapsed stacks" err || fail "$(cat err)"
done
braid report --html page.html stacks.trace
! grep -q '"times":{' page.html || fail "the page has times of samples that have none"
made=$(braid query --format tsv stacks.trace 'select count(time_ns) + count(cpu) from samples' | tail -n 1)
[[ $made -eq 0 ]] || fail "SQL finds times or CPUs of samples that have none"
printf PERFILE2 >perf.data
! braid import -o none.trace perf.data 2>err || fail "perf.data"
grep -q 'perf script -i FILE -F +pid | braid import -' err || fail "$(cat err)"
[[ ! -e none.trace ]] || fail "a refused file has left a trace"

# perf's own text
perf=$(command -v perf) && "$perf" record -q -e cpu-clock -g -o real.data -- seq 300000 >/dev/null 2>&1 || exit 0
"$perf" script -i real.data -F +pid 2>/dev/null >perf.txt
braid import -o perf.trace perf.txt >/dev/null
[[ $(count_of perf.trace) -eq $(grep -c 'cpu-clock' perf.txt) ]] || fail "the samples of perf differ"
