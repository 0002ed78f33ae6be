#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The page's timeline and heat map, in a browser: lanes, zoom, stacks of intervals, a range of time for all views, the address.
# class: long
# takes: 12 s
source "$(dirname "$0")/../lib.sh"

braid record -e cpu,offcpu,lock,gc -F 499 -o t.trace -- "$JAVA" -cp "$CLASSES" Views >truth 2>err || fail "$(cat err)"
braid report --html t.html t.trace
check t.trace "samples" 'i["samples"]["total"] > 0'
python3 "$LIB_DIR/page.py" t.html t.trace.json
# Without a browser: the lanes are there.
# shellcheck disable=SC2016 # expressions are JavaScript
node "$TEST_DIR/page.js" t.html 'click("timeline") && texts().some(text => text.startsWith("CPU "))' \
	'braidPage.lines().some(line => line.thread !== undefined && line.lane.kept > 3)' 'click("heat") && braidPage.heat().most > 0'
node -e 'process.exit(require(process.argv[1]).CHROMIUM ? 0 : 1)' "$TEST_DIR/browser.js" || skip "no Chromium is installed"
# The flame graph of a range has the samples that a report of that time has. Each end, in µs, is between two samples: the
# page rounds their times.
read -r from to < <(braid script --event cpu t.trace | python3 -c '
import re, sys
times = sorted(float(t) for t in re.findall(r"^\S.* (\d+\.\d+): ", sys.stdin.read(), re.M))
quarter = len(times) // 4 + 1
for near in times[:quarter], times[-quarter:]:
	gap = max(zip(near, near[1:]), key=lambda pair: pair[1] - pair[0])
	print(round(sum(gap) / 2 * 1e6), end=" ")
print()')
node "$TEST_DIR/timeline.js" t.html "$from" "$to" >seen
braid report --json --from "${from}us" --to "${to}us" t.trace >part.json
python3 -c 'import json; seen, part = json.load(open("seen")), json.load(open("part.json")); assert seen["total"] == part["samples"]["total"] > 0, (seen, part["samples"])'
