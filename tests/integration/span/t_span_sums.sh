#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Times off the CPU that are added up by stack and span, of a program with more spans than there can be sums: each nap is
# added up in its own span, or counted as one whose span is lost, and keeps its stack. What a span's nap took is explained by
# it, and not as a share of all naps of its thread.
source "$(dirname "$0")/../lib.sh"

"${CC:-gcc}" -std=gnu11 -O1 -g -I"$TEST_DIR" -rdynamic "$TEST_DIR/many.c" "$TEST_DIR/variable.c" -o many -pthread
start_program out ./many
start_record -q -F 99 -e 'cpu,offcpu=0ns/aggregate/' -p "$JAVA_PID" -o many.trace
wait_sampling
go_on
wait_says out "done"
stop_record
end_program
braid report --by span --json --top 100000 many.trace >spans.json
braid report --by span many.trace >spans.txt
braid script --raw many.trace >many.raw
braid explain --slowest 50 --json many.trace >slowest.json
python3 - <<'END'
import json, re

SLEEP = 3  # BRAID_OFFCPU_SLEEP
spans = json.load(open("spans.json"))
sums, lost, dropped, naps = {}, 0, 0, 0
tids, ids, times = {}, {}, {}  # times: of each thread's span, in ns
for line in open("many.raw"):
    f = dict(re.findall(r"(\w+)=(\S+)", line))
    if line.startswith("thread "):
        tids[f["thread"]] = int(f["tid"])
    if line.startswith("span "):
        ids[f["span"]] = f"{int(f['span_id'], 16):016x}"
    sum_of_stack = line.startswith("jvm_event") and f["kind"] == "24" and f["number"] == "5" and f["node"] != "0"
    if sum_of_stack and f["span"] != "0":
        key = tids[f["thread"]], ids[f["span"]]
        times[key] = times.get(key, 0) + int(f["weight"])
    if sum_of_stack and f["value"] != "0":
        sums.setdefault(f["span"] != "0", []).append(int(f["value"]))
        naps += int(f["value"]) if f["span"] == "0" and int(f["flags"], 16) >> 20 & 15 == SLEEP else 0
    if line.startswith("loss") and f["kind"] == '"span"':
        lost += int(f["count"])
        dropped += int(f["count"]) if f["hop"] == '"bpf"' else 0
apart, together = sums.get(True, []), sums.get(False, [])
print(f"{sum(apart)} times in {len(apart)} sums with a span, {sum(together)} in {len(together)} without; {lost} spans lost")
assert len(apart) > 100 and spans["spans"] > 100, spans["spans"]
# All naps are in a span. Others, in which a thread waits for a CPU, need not be.
assert spans["spans_lost"] == lost and naps <= lost <= sum(together), (naps, lost, sum(together))
assert sum(apart) + sum(together) > 30000
assert dropped or len(apart) < 8192 * 6
# A span has all that was added up in it, but for what is longer than the span is known to last.
explained = 0
for line in open("slowest.json"):
    e = json.loads(line)
    own = sum(round(p["time_s"] * 1e9) for p in e["parts"] if p["added_up"] and not p["share"])
    lasted = round(e["time_s"] * 1e9)
    wanted = min(times.get((e["tid"], e["span"]), 0), lasted)
    assert abs(own - wanted) <= 10, (own, wanted, line)  # ns, of rounding
    explained += own
assert explained > 0
END
if grep -q '"spans_lost":[1-9]' spans.json; then
	grep -q '^ *lost: the spans of ' spans.txt || fail "the report does not say that spans are lost: $(cat spans.txt)"
fi
