#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The format of perf script, checked by a reader of that format.
# class: quick
source "$(dirname "$0")/../lib.sh"

need_sample
braid script "$SAMPLE" >script.txt
cat >form.awk <<-'EOF'
	# States: 0 between events, 1 in the frames of a sample.
	function bad(why) { print FNR ": " why ": " $0; failed = 1; exit 1 }
	state == 1 && /^\t *[0-9a-f]+ .+ \(.+\)$/ { frames++; next }
	state == 1 && /^$/ { if (!frames) bad("a sample without frames"); state = 0; next }
	state == 1 { bad("no frame") }
	/^[^ \t]+ +[0-9]+\/[0-9]+ \[[0-9]+\] [0-9]+\.[0-9]+: +[0-9]+ cpu-clock:$/ { state = 1; frames = 0; samples++; next }
	/^[^ \t]+ +[0-9]+\/[0-9]+ \[[0-9]+\] -?[0-9]+\.[0-9]+: braid:[a-z_]+:/ { others++; next }
	{ bad("no event") }
	END { if (!failed && state) { print "ends within a sample"; exit 1 } if (!failed) print samples, others > "counts" }
EOF
awk -f form.awk script.txt || fail "not in the form of perf script.txt"
read -r samples others <counts
cp "$SAMPLE" s.trace
check s.trace "every sample is there" "i['samples']['total'] == $samples and $others > 10"
grep -A 12 '^old-0 .*cpu-clock:' script.txt | finds 'Worker.spin (/tmp/perf-[0-9]*.map)' || fail "no Java frame with its name"
[[ $(grep -c 'braid:gc_pause:' script.txt) -gt 0 ]] || fail "no GC pauses"
[[ $(braid script --top 5 "$SAMPLE" | grep -c '^[^[:space:]]') -eq 5 ]] || fail "--top 5 prints other than five events"
braid script --raw "$SAMPLE" >raw
for kind in method sample process thread; do
	grep -q "^$kind " raw || fail "no $kind in the raw records: $(cut -d' ' -f1 raw | sort | uniq -c)"
done
# A reader that closes its pipe is no error of the trace.
braid script "$SAMPLE" 2>err | head -n 1 >/dev/null || true
