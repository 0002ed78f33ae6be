#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A stack at every return of a function, with what it returns and the time since its call, of recursive calls, too.
source "$(dirname "$0")/../lib.sh"
source "$TEST_DIR/events.sh"

cc -O1 -o call "$TEST_DIR/call.c"
CALL=$PWD/call

record -e "cpu,uretprobe:$CALL:depth{retval,elapsed},uretprobe:$CALL:slow/elapsed>=30ms/{str(retval)},uretprobe:$CALL:slow/retval!=0/" \
	-o returns.trace -- ./call
check returns.trace "nothing lost" 'i["lost"] == {}'
count returns.trace "uretprobe:$CALL:depth{retval,elapsed}" 5 ';main(;depth)*$'
count returns.trace "uretprobe:$CALL:slow/retval!=0/" 2 ';main;calls$'

# On a busy machine, calls that should be short can take as long.
check returns.trace "slow calls" 'all(4 <= e["samples"] <= 20 for e in r["hit_events"] if "elapsed>=30ms" in e["event"])' \
	"text" 'sum(v["samples"] for e in r["hit_events"] if "str(retval)" in e["event"] for v in e["values"]
		if v["text"] == "retval=\"some text\"") == 2'

# Each call contains those below it, and sleeps 2 ms itself.
braid script --event "uretprobe:$CALL:depth{retval,elapsed}" returns.trace >lines
mapfile -t elapsed < <(sed -n 's/.*: retval=[0-9]* elapsed=\([0-9]*\)ns$/\1/p' lines)
[[ ${#elapsed[@]} -eq 5 ]] || fail "not five calls: $(cat lines)"
[[ $(sed -n 's/.*: retval=\([0-9]*\) elapsed.*/\1/p' lines | paste -sd ' ') == "0 1 2 3 4" ]] || fail "other values: $(cat lines)"
before=0
for ns in "${elapsed[@]}"; do
	[[ $ns -ge $((before + 2000000)) ]] || fail "a call took $ns ns, those in it $before: $(cat lines)"
	before=$ns
done

# The innermost frame is the caller.
[[ $(grep -c 'depth+' lines) -eq 10 ]] || fail "not 4 + 3 + 2 + 1 callers: $(cat lines)"
