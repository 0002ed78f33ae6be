#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Times off the CPU that are added up by thread, reason and stack: the sums are what the program knows, each thread's life
# is whole, and the reports have the stacks. On request, and when a process has too many.
# class: long
# takes: 15 s
source "$(dirname "$0")/../lib.sh"
# shellcheck source=whole.sh
source "$TEST_DIR/whole.sh"

"${CC:-gcc}" -std=gnu11 -O1 -g -fno-optimize-sibling-calls "$TEST_DIR/switcher.c" -o switcher -pthread

# added TRACE [WHAT EXPRESSION]...: each switch of the program's threads is in a sum, an event, or counted; a switch at
# the end of a thread comes after its own count.
added()
{
	local trace=$1

	shift
	whole "$trace" \
		"as many as the program's switches" "all(int(w[2]) <= seen <= int(w[2]) + 3 for w in truth['switches']
			for seen in [len([e for e in of('offcpu') if e.thread.tid == int(w[1]) and e.flags >> 20 & 15 != 1]) +
				total([e for e in of('counted', number=5) if e.thread.tid == int(w[1]) and e.flags >> 20 & 15 != 1])])" \
		"no longer than all of them" "all(e.duration_ns <= e.weight + total([r for r in of('counted', number=5) if
			r.thread.tid == e.thread.tid and r.flags >> 20 & 15 == 1], 'weight') for e in of('counted', number=5) if e.node)" "$@"
}

# The naps are known by number and by place, and the longest one is the program's. After long ones the kernel's clocks can
# have drifted apart by more than a wait for an idle CPU.
recorded asked 'offcpu=0ns/aggregate/' 6000
added asked.trace \
	"naps by stack" "[total([e for e in of('counted', number=5) if e.node and e.flags >> 20 & 15 == 3 and e.thread.name == n and
		f in e.stack]) for n in ('napper-short', 'napper-long') for f in ('left', 'right')] == [120, 40, 9, 3]" \
	"naps are as long as asked" "all(30e6 <= e.duration_ns and e.weight >= e['value'] * 30e6 for e in of('counted', number=5)
		if e.node and e.flags >> 20 & 15 == 3 and e.thread.name == 'napper-long')" \
	"short naps end in the queue of a CPU" "any(e.node and not e['value'] and e.weight > 0 for e in
		of('counted', number=5) if e.flags >> 20 & 15 == 1 and e.thread.name == 'napper-short')" \
	"by system call" "{e.flags & 0xffff for e in of('counted', number=5) if e.node and e.flags >> 20 & 15 == 3} <= {35, 230}" \
	"few rows" "len(of('counted', number=5)) < 400" \
	"no event each, but for what has no stack" "[e for e in of('offcpu') if e.node and not e.flags & 0x20000] == []" \
	"the parts of a handover" "{f for e in of('counted', number=5) if e.flags >> 20 & 15 == 6 for f in ('left', 'right') if f in e.stack}
		== {'left', 'right'}"
braid export --event offcpu asked.trace >asked.stacks
for way in left right; do
	grep -q ";takes;goes;$way;waits;" asked.stacks || fail "$(cat asked.stacks)"
done
braid report --full asked.trace >asked.txt
grep -Eq '^ *added up +[0-9]{5,}' asked.txt || fail "the report has no line 'added up': $(cat asked.txt)"

# The lives of reports add up: with stacks, without some of them, and in two halves.
python3 - "$BUILD/braid" <<-'END'
	import json, subprocess, sys
	def lives(*options):
	    out = subprocess.run([sys.argv[1], "report", "--wall", "--json", "--top", "1000", *options, "asked.trace"],
	                         check=True, capture_output=True).stdout
	    return json.loads(out)
	def weigh(*options):
	    out = subprocess.run([sys.argv[1], "export", "--event", "wall", *options, "asked.trace"], check=True,
	                         capture_output=True, text=True).stdout
	    return sum(int(line.rsplit(" ", 1)[1]) for line in out.splitlines())
	ns = lambda seconds: round(seconds * 1e9)
	whole = lives()
	for t in whole["lives"]:
	    assert sum(map(ns, t["states_s"].values())) == ns(t["life_s"]), t
	    assert ns(t["states_s"].get("unknown", 0)) + ns(t["excess_s"]) <= ns(t["life_s"]) * 0.001 + 20000, t
	assert weigh() == ns(whole["life_s"])
	left, others = ("--include", "^left$"), ("--exclude", "^left$")
	assert weigh(*left) == ns(lives(*left)["life_s"]) > 0
	assert weigh(*others) == ns(lives(*others)["life_s"])
	assert abs(weigh(*left) + weigh(*others) - weigh()) <= 100, (weigh(*left), weigh(*others), weigh())
	late, early = lives("--from", "0.2"), lives("--to", "0.2")
	assert ns(late["life_s"]) + ns(early["life_s"]) == ns(whole["life_s"])
	waits = {w["site"]: w for w in whole["waits"] if w["state"] == "sleeping"}
	assert sum(w["count"] for w in waits.values()) == 172, waits
END

# With a filter, what it does not select is counted without a stack.
recorded part 'offcpu=0ns/aggregate && state=="sleeping"/' 3000
added part.trace "naps only" "{e.flags >> 20 & 15 for e in of('counted', number=5) if e.node and e['value']} == {3}" \
	"all naps" "total([e for e in of('counted', number=5) if e.node and e['value']]) == 172"

# A process with too many has events first, then sums, and the recording says so.
recorded flood offcpu=0ns 40000
seconds="Counter((e.time_ns + e.duration_ns) // 10**9 for e in of('offcpu'))"
sums="total([e for e in of('counted', number=5) if e.node])"
added flood.trace \
	"as many events as there may be in a second" "0 < max($seconds.values()) <= 2 * 10100" \
	"the others are added up" "$sums > 0 or max($seconds.values()) < 10000" \
	"it says so" "any('were added up by stack: it had more than 10000 in a second' in n for n in notices) == ($sums > 0)"
recorded each 'offcpu=0ns/each/' 12000
events each.trace "none on request" "not any(e.node for e in of('counted', number=5)) and not any('added up' in n for n in notices)"

# Java, with locks and Object.wait in the agent's words.
"$BUILD/braid" record -q --preset wall -e 'offcpu=0ns/aggregate/' -o java.trace -- "$JAVA" -cp "$CLASSES" Blocked <<<'' >java.out
whole java.trace "naps by stack" "total([e for e in of('counted', number=5) if e.node and 'Blocked.naps' in e.stack and
	e.flags >> 20 & 15 in (2, 3) and e.weight > e['value'] * 40e6]) >= 14"
braid report --wall --json --top 1000 java.trace >java.json
python3 - <<-'END'
	import json
	named = {t["name"]: t["states_s"] for t in json.load(open("java.json"))["lives"]}
	assert named["napper"]["sleeping"] >= 0.7 and named["parker"]["parked"] >= 0.7, (named["napper"], named["parker"])
END

# What a thread waited for has its place, though not in time: a part of its life has a share of the sums.
braid explain --thread napper java.trace >explain.txt
grep -Eq ' [0-9]+  +[0-9.]+ .?s  sleeping in Blocked\.naps, in times that were added up$' explain.txt || fail "$(cat explain.txt)"
python3 - "$BUILD/braid" <<-'END'
	import json, subprocess, sys
	def explained(*options):
	    out = subprocess.run([sys.argv[1], "explain", "--thread", "napper", "--json", "--top", "1000", *options, "java.trace"],
	                         check=True, capture_output=True).stdout
	    e = json.loads(out)
	    assert abs(sum(p["time_s"] for p in e["parts"]) - e["time_s"]) < 1e-6, e
	    (naps,) = [p for p in e["parts"] if p["state"] == "sleeping" and p["site"] == "Blocked.naps"]
	    assert naps["added_up"] and not naps["only_counted"], naps
	    return e, naps
	whole, naps = explained()
	assert naps["count"] >= 14 and 0.04 <= naps["longest"]["time_s"] <= naps["time_s"], naps
	middle = (whole["from_s"] + whole["to_s"]) / 2
	part, some = explained("--from", str(middle))
	assert some["count"] is None and "longest" not in some and some["time_s"] < naps["time_s"], some
END

for list in 'offcpu/aggregate||pid==1/' 'offcpu/pid==1||each/'; do
	! "$BUILD/braid" record -e "$list" -o refused.trace -- true 2>err || fail "$list is not refused"
	grep -q "'aggregate' and 'each' are no conditions" err || fail "$list: $(cat err)"
done
