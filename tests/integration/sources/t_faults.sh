#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Page faults: as many as the kernel counts for the program, minor and major, with mapping, address, duration and stack; filters;
# Java methods in the stacks.
source "$(dirname "$0")/../lib.sh"
source "$TEST_DIR/events.sh"

cc -O2 -o kernel "$TEST_DIR/kernel.c"
mkdir d
DATA=$PWD/d/data

recorded all.trace fault ./kernel faults "$DATA"
events all.trace \
	"new pages" '[len([e for e in at("fault", "touch_anonymous") if e.detail == d]) for d in ("minor", "major")] ==
		[int(n) for n in truth["anonymous"][0]] and len(at("fault", "touch_anonymous")) >= 300' \
	"pages of a file" '[len([e for e in at("fault", "touch_file") if e.detail == d]) for d in ("minor", "major")] ==
		[int(n) for n in truth["mapped"][0]] and len(at("fault", "touch_file")) > 0' \
	"their mappings" 'all(e.name == "[anonymous]" for e in at("fault", "touch_anonymous")) and
		all(e.name.endswith("d/data") for e in at("fault", "touch_file"))' \
	"a mapping in the place of another" '[e.name for e in at("fault", "touch_other")][:1] == ["[anonymous]"] and
		len(at("fault", "touch_other")) > 1 and all(e.name.endswith("d/data") for e in at("fault", "touch_other")[1:])' \
	"each page once" 'len({e.number // 4096 for e in at("fault", "touch_anonymous")}) == len(at("fault", "touch_anonymous"))' \
	"their times" 'all(e.duration_ns > 0 for e in at("fault", "touch_anonymous") + at("fault", "touch_file"))' \
	"nothing lost" 'lost == []'
check all.trace "no samples" 'weight(stacks) == 0'
braid report --full all.trace | finds 'd/data$' || fail "the report has no table of mappings"
[[ $(stacks_of all.trace fault | weigh ';touch_file;[^;]*d/data$') -gt 0 ]] || fail "the stacks have no time"

recorded major.trace fault/major==1/ ./kernel faults "$DATA"
events major.trace "only major ones" 'len(at("fault", "touch_file")) == int(truth["mapped"][0][1]) and
	all(e.detail == "major" for e in of("fault"))'
recorded none.trace fault=10s ./kernel faults "$DATA"
events none.trace "none is so long" 'of("fault") == []'

recorded java.trace fault,cpu "$JAVA" -cp "$CLASSES" Pages "$DATA.java" 400
events java.trace \
	"from Java" 'len([e for e in of("fault") if e.name.endswith("d/data.java")]) >= 400 // 16' \
	"in one piece" 'all("Pages.touch" in e.stack and "Pages.main" in e.stack for e in of("fault") if e.name.endswith("d/data.java"))'

refused "-e fault/call==read/" "'call' is no field of 'fault'; use comm, pid, tid, cpu, address, major" 2
