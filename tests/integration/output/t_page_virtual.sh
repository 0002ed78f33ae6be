#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The page's lanes of virtual threads: on their carriers, and unmounted by their reasons, by their names. Of ten thousand the page has
# those that did most, and says how many others there are; of none it has nothing.
# class: long
# takes: 20 s
source "$(dirname "$0")/../lib.sh"

need_jdk 21
"$JDK/bin/javac" --release 21 -d . "$TEST_DIR/../thread/java21/VParks.java"
braid record -q -e offcpu -o t.trace -- "$JDK/bin/java" -cp . VParks 10000 >truth 2>err || fail "$(cat err)"
braid report --html t.html t.trace
braid report --json t.trace >t.trace.json
python3 "$LIB_DIR/page.py" t.html t.trace.json
threads=$(braid report --wall --json --top 100000 t.trace | python3 -c '
import json, sys
print(sum(g["threads"] for p in json.load(sys.stdin)["processes"] for g in p["groups"] if g["virtual"]))')
# shellcheck disable=SC2016 # expressions are JavaScript
node "$TEST_DIR/page.js" t.html "data.lanes.vthreads.length === 500 && data.lanes.vthreads_left_out === $threads - 500" \
	'data.lanes.vthreads.reduce((sum, lane) => sum + lane.kept, 0) < 80000' # bounded, as all lanes are
# The lives are those of the report: each lane's states are as long as its life.
# shellcheck disable=SC2016
node "$TEST_DIR/page.js" t.html 'data.lanes.vthreads.every(l => Math.abs(l.ns.filter((_, k) => k % 2).reduce((a, b) => a + b, 0) / 1000 - (l.end_us - l.start_us)) <= 2)'
need_sample
braid report --html none.html "$SAMPLE"
# shellcheck disable=SC2016
node "$TEST_DIR/page.js" none.html '!data.lanes.vthreads'
node -e 'process.exit(require(process.argv[1]).CHROMIUM ? 0 : 1)' "$TEST_DIR/browser.js" || skip "no Chromium is installed"
node "$TEST_DIR/virtual.js" t.html 500
