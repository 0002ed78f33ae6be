#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A class is redefined while its methods run: old versions keep their own lines, compiled and interpreted.
source "$(dirname "$0")/churn.sh"

mkdir agent
printf 'Premain-Class: ChurnRedefine\nCan-Redefine-Classes: true\n' >manifest
"$JAVA_HOME/bin/jar" cfm agent/redefine.jar manifest -C "$CLASSES" ChurnRedefine.class
churn -javaagent:agent/redefine.jar ChurnRedefine "$SECONDS_EACH"
[[ $(grep -c '^main ' truth) -gt 5 ]] || fail "too few versions: $(wc -l <truth)"
