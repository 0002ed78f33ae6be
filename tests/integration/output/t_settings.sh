#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recording knows the flags that jcmd lists and the properties of the command line, and keeps no secrets.
# takes: 4 s
source "$(dirname "$0")/../lib.sh"

start_worker w -XX:MaxHeapSize=64m -XX:+UseSerialGC -XX:OnError='echo --db.password=hunter2' -Dgreeting='good day' \
	-Dapi.token=hunter2
braid record -q -d 500ms -o a.braid -p "$JAVA_PID"
braid info --settings a.braid >settings
"$JAVA_HOME/bin/jcmd" "$JAVA_PID" VM.flags | sed 1d | grep -o -- '-XX:[^ ]*' >flags
[[ $(wc -l <flags) -gt 5 ]] || fail "jcmd lists no flags: $(cat flags)"
while read -r flag; do
	[[ $flag == -XX:OnError=* ]] || grep -qF -- "$flag  (" settings || fail "$flag is missing in $(cat settings)"
done <flags
grep -qxF -- '  -XX:MaxHeapSize=67108864  (command line)' settings || fail "who set MaxHeapSize? $(cat settings)"
grep -qxF -- '  -XX:OnError=echo --db.password=***  (command line)' settings || fail "OnError: $(cat settings)"
grep -qxF -- '  -Dgreeting=good day' settings || fail "a property is missing: $(cat settings)"
grep -qxF -- '  -Dapi.token=***' settings || fail "a secret's key is missing: $(cat settings)"
braid script --raw a.braid >raw
! grep hunter2 raw || fail "a secret is in the trace"
braid info --json a.braid | python3 -c '
import json, sys
jvm = json.load(sys.stdin)["jvms"][0]
assert jvm["flags"]["UseSerialGC"] == {"value": "true", "origin": "command line"}, jvm
assert jvm["properties"]["greeting"] == "good day", jvm'
braid info a.braid | finds 'flags .*-XX:+UseSerialGC' || fail "the chosen flags are missing: $(braid info a.braid)"

braid record -q -d 200ms --no-properties -o b.braid -p "$JAVA_PID"
braid info --settings b.braid | finds "^pid $JAVA_PID  flags and system properties are not known\$" ||
	fail "recorded in spite of --no-properties: $(braid info --settings b.braid)"
end_worker w "$JAVA_PID"
