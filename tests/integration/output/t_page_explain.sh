#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The page explains the slowest span and the threads with most to explain as braid explain does, and each part of it leads to its stack, to
# the timeline and to the flame graph. Without times off the CPU it explains nothing, and does not say that there is nothing.
# class: long
# takes: 15 s
source "$(dirname "$0")/../lib.sh"

JAR=$BUILD/braid-context.jar
[[ -e $JAR ]] || skip "braid was built without a JDK"
"$JAVA_HOME/bin/javac" -nowarn -source 8 -target 8 -cp "$JAR" -d . "$TEST_DIR/context/Shop.java" 2>/dev/null ||
	"$JAVA_HOME/bin/javac" -cp "$JAR" -d . "$TEST_DIR/context/Shop.java"
start_program out "$JAVA" -cp "$JAR:." Shop
start_record --preset wall -F 499 -o t.trace -p "$JAVA_PID"
has_spans() { braid report --by span t.trace 2>/dev/null | finds /login; }
wait_for "the first spans" has_spans
go_on
wait_says out served
stop_record
end_program
braid report --html t.html t.trace
braid report --json t.trace >t.trace.json
python3 "$LIB_DIR/page.py" t.html t.trace.json
# A selection of stacks has no whole lives, and samples alone have none.
braid report --html part.html --include Shop t.trace
need_sample
braid report --html cpu.html "$SAMPLE"
for page in part cpu; do
	# shellcheck disable=SC2016 # expressions are JavaScript
	node "$TEST_DIR/page.js" "$page.html" '!data.explain' '$("explain").hidden'
done
node -e 'process.exit(require(process.argv[1]).CHROMIUM ? 0 : 1)' "$TEST_DIR/browser.js" || skip "no Chromium is installed"
braid explain --json --slowest 1 t.trace >slowest.json
node "$TEST_DIR/explanations.js" t.html slowest.json
