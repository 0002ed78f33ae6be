#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The flame graph is one file that loads nothing.
# shellcheck disable=SC2016 # expressions are JavaScript
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
	'click("timeline") && texts().some(text => text.includes(" s"))' \
	'data.threads.some(t => !t.began && t.known_us > 0) && lines() > 0' # hatches, until a thread is known
if node -e 'process.exit(require(process.argv[1]).CHROMIUM ? 0 : 1)' "$TEST_DIR/browser.js"; then
	braid report --json --top 1000000 "$SAMPLE" >report.json
	braid report --html linked.html --source-link 'https://example.org/{path}#L{line}' "$SAMPLE"
	node "$TEST_DIR/flames.js" linked.html report.json
fi
for address in 'javascript:alert(1)//{path}' https://example.org/; do
	status=0
	braid report --html linked.html --source-link "$address" "$SAMPLE" 2>err || status=$?
	[[ $status -eq 2 ]] || fail "$address: $status"
	grep -q 'is not an address of http or https with {path}' err || fail "$address: $(cat err)"
done
# A page of a selection describes the selection.
braid report --html part.html --from 0.1 --to 10m --include spin "$SAMPLE"
node "$TEST_DIR/page.js" part.html '!$("filter").hidden && $("filter").textContent.includes("from 0.100000 s")' \
	'$("filter").textContent.includes("stacks with '"'spin'"'")'
# A page of a damaged trace reports the damage.
(cat "$SAMPLE"; echo more) >damaged.trace
braid report --html damaged.html damaged.trace 2>err || [[ $? -eq 3 ]]
node "$TEST_DIR/page.js" damaged.html '$("lost").textContent === "Lost: 5 byte (file)"'
