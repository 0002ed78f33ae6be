#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The flame graph is one file that loads nothing.
# shellcheck disable=SC2016 # expressions are JavaScript
# class: quick
source "$(dirname "$0")/../lib.sh"

need_sample
braid report --html flame.html "$SAMPLE"
cp "$SAMPLE" s.trace
check s.trace "the trace" 'i["samples"]["total"] > 0'
python3 "$LIB_DIR/page.py" flame.html s.trace.json
braid report --html - "$SAMPLE" >page.html
cmp page.html flame.html || fail "the page on standard output is another one"
# Its trees, and its contents when it runs.
node "$TEST_DIR/tree.js" "$LIB_DIR"/../../userspace/page/web/{tree,fold}.js
node "$TEST_DIR/page.js" flame.html '$("filter").hidden && $("lost").hidden' '$("about").textContent.includes(data.about.host)' \
	'drawn().length > 20 && texts().includes("all")' 'click("reverse") && drawn().length > 5 && texts().includes("Worker.spin")' \
	'click("timeline") && texts().some(text => text.includes(" s"))'
if node -e 'process.exit(require(process.argv[1]).CHROMIUM ? 0 : 1)' "$TEST_DIR/browser.js"; then
	braid report --json --top 1000000 "$SAMPLE" >report.json
	node "$TEST_DIR/flames.js" flame.html report.json
fi
# A page of a selection describes the selection.
braid report --html part.html --from 0.1 --to 10m --include spin "$SAMPLE"
node "$TEST_DIR/page.js" part.html '!$("filter").hidden && $("filter").textContent.includes("from 0.100000 s")' \
	'$("filter").textContent.includes("stacks with '"'spin'"'")'
# A page of a damaged trace reports the damage.
(cat "$SAMPLE"; echo more) >damaged.trace
braid report --html damaged.html damaged.trace 2>err || [[ $? -eq 3 ]]
node "$TEST_DIR/page.js" damaged.html '$("lost").textContent === "Lost: 5 byte (file)"'
