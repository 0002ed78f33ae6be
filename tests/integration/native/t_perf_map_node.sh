#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Functions of node have their names, which it writes to a perf map, and their callers.
source "$(dirname "$0")/../lib.sh"

command -v node >/dev/null || skip "there is no node"
start_program out node --perf-basic-prof --interpreted-frames-native-stack --no-turbo-inlining "$TEST_DIR/busy.js"
start_record -F 499 -p "$JAVA_PID" -o node.trace
wait_sampling
go_on
wait_says out end
end_record
rm -f "/tmp/perf-$JAVA_PID.map"
functions='[x for x in stacks if any("innermost" in f for f in x[0])]'
check node.trace \
	"named" "at_least(weight($functions), weight(stacks), 80) and weight($functions) > 20" \
	"with their callers" "at_least(weight([x for x in $functions if any('outermost' in f for f in x[0])]), weight($functions), 95)" \
	"whole" "mostly_whole($functions)"
