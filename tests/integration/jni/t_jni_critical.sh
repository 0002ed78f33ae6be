#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Critical sections of JNI take as long as the program finds itself; those inside others are no sections of their own. The
# collections that wait for one are found.
# takes: 10 s
source "$(dirname "$0")/../lib.sh"
source "$TEST_DIR/user.sh"

[[ $(java_version) -lt 24 ]] || skip "this JVM's collectors do not ask for a collection at the end of a section"
start_user -XX:+UseSerialGC
start_record -q -e gc,jni-critical=5ms -o a.trace -p "$JAVA_PID"
wait_events "$JAVA_PID"
say critical 30
say hold 2
stop_record
end_user
cp out a.trace.truth
# The first thirty and the last two last long; among a thousand others some can, on a busy machine.
LONG="(of('jni_critical')[:30] + of('jni_critical')[-2:])"
events a.trace \
	"those that are long enough" "len($LONG) == 32 == len(truth['CRITICAL'])" \
	"not shorter than the program says" "all(e.duration_ns >= int(ns) for e, (ns,) in zip($LONG, truth['CRITICAL']))" \
	"as long" "at_least(sum(e.duration_ns < int(ns) + 1000000 for e, (ns,) in zip($LONG, truth['CRITICAL'])), 32, 70)" \
	"the function" "{e.name for e in of('jni_critical')} == {'ReleasePrimitiveArrayCritical'}" \
	"stacks" "all(e.stack[1].startswith('JniUser.critical') for e in of('jni_critical'))" \
	"the others are counted" "sum(e['value'] for e in of('counted') if KINDS.get(e.number) == 'jni_critical') == 1032 - len(of('jni_critical'))" \
	"nothing lost" "lost == []"
braid report --json a.trace | python3 -c '
import json, sys
held = json.load(sys.stdin)["held_up_collections"]
assert len([h for h in held if h.get("section_ns", 0) >= 200000000 and h["thread"] == "main" and h["site"] == "JniUser.criticalUntilStill"]) == 2, held'
braid report --full a.trace >tables
grep -q ' main in JniUser.criticalUntilStill$' tables || fail "the report: $(sed -n '/^Collections/,/^$/p' tables)"
