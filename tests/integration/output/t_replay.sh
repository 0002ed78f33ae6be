#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A replay prints exactly the recording's report.
source "$(dirname "$0")/../lib.sh"

need_sample
braid report --full "$SAMPLE" >report.txt
for speed in max 1000 10; do
	braid replay --speed "$speed" "$SAMPLE" >"replay-$speed"
	cmp report.txt "replay-$speed" || fail "replay at speed $speed is not the report"
done
braid report --full --top 3 --comm old-0 --include 'spin' "$SAMPLE" >report.txt
braid replay --top 3 --comm old-0 --include 'spin' "$SAMPLE" >replay.txt
cmp report.txt replay.txt || fail "with a selection, the replay is not the report"
braid report --full "$SAMPLE" >again
cmp replay-max again || fail "the report is not the same a second time"
for speed in 0 -1 fast; do
	status=0
	braid replay --speed "$speed" "$SAMPLE" >out 2>err || status=$?
	[[ $status -eq 2 && ! -s out ]] || fail "--speed $speed: exit status $status"
done

# The live analyzer gives the same report.
braid record --report -q -F 997 -o live.trace -- "$JAVA" -cp "$CLASSES" Deep 100 >live
braid report live.trace >later
cmp live later || { diff live later | head -n 20; fail "the live report is not the later one"; }
grep -q 'Deep.burn' live || fail "an empty report: $(head live)"
