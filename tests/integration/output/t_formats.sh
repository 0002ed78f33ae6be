#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Formats of other tools: their readers find the same methods with the same weights in each of them.
# class: quick
# takes: 5 s
source "$(dirname "$0")/../lib.sh"

need_sample
root=$(readlink -f "$LIB_DIR/../..")
for format in collapsed pprof otlp speedscope hprof heatmap firefox chrome perfetto jfr sqlite; do
	braid export --format "$format" -o "$format" "$SAMPLE"
done
braid info --json "$SAMPLE" >info.json
braid report --json "$SAMPLE" >report.json
go tool pprof -top -sample_index=samples -nodecount=100000 -nodefraction=0 pprof >pprof.top 2>pprof.err ||
	fail "pprof cannot read it: $(cat pprof.err)"
go tool pprof -top -sample_index=cpu -tagfocus=thread=sample-1 pprof >pprof.cpu 2>&1 || fail "$(cat pprof.cpu)"
protoc --decode=otlp.ProfilesData -I"$root/userspace/export/proto" otlp.proto <otlp >otlp.txt
protoc --decode=perfetto.Trace -I"$root/userspace/export/proto" perfetto.proto <perfetto >perfetto.txt
python3 "$TEST_DIR/formats.py" || fail "the formats differ"

braid export --format perf-map "$SAMPLE" >map
python3 "$TEST_DIR/perf_map.py" || fail "the map of compiled code is wrong"

for options in "--format pprof --threads" "--format otlp --lines" "--format firefox --event offcpu --wakers" \
	"--format hprof --event lock" "--format chrome --event wall" "--format firefox --top 3" \
	"--format perf-map --event lock" "--format perf-map --from 1"; do
	status=0
	# shellcheck disable=SC2086 # words
	braid export $options "$SAMPLE" >out 2>err || status=$?
	[[ $status -eq 2 && ! -s out ]] || fail "$options: exit status $status"
done
