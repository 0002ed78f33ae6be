#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A recording knows all flags and system properties that jcmd lists, with who set them and what has changed, and keeps no secrets.
# takes: 6 s
source "$(dirname "$0")/../lib.sh"

# recorded TRACE OPTION...: a recording that the JVM's agent has joined.
recorded()
{
	start_record -q "${@:2}" -o "$1" -p "$JAVA_PID"
	wait_joined "$JAVA_PID"
	stop_record
}

start_worker w -XX:MaxHeapSize=64m -XX:+UseSerialGC -XX:OnError='echo --db.password=hunter2' -Dgreeting='good day' \
	-Dapi.token=hunter2 -Dempty= -Dlong="$(printf 'ab%.0s' {1..3000})"
"$JAVA_HOME/bin/jcmd" "$JAVA_PID" VM.flags -all >flags
"$JAVA_HOME/bin/jcmd" "$JAVA_PID" VM.system_properties >properties # its date's time zone is a property from now on
"$JAVA_HOME/bin/jcmd" "$JAVA_PID" VM.system_properties >properties
recorded a.trace
braid info --json a.trace >a.json
python3 - a.json flags properties <<'END' || fail "jcmd knows other settings"
import json, re, sys

jvm = json.load(open(sys.argv[1]))["jvms"][0]
flags = re.findall(r"^ *\S+ (\w+) +=(.*?) +\{[^}]*\} *(?:\{(.*)\})?$", open(sys.argv[2]).read(), re.M)
assert len(flags) > 300, open(sys.argv[2]).read()
differs = [(name, value, origin, jvm["flags"].get(name)) for name, value, origin in flags
           if name != "OnError" and jvm["flags"].get(name) != {"value": value.strip(), "origin": origin or "default"}]
assert not differs, differs
assert jvm["flags"]["UseSerialGC"] == {"value": "true", "origin": "command line"}

lines = open(sys.argv[3]).read().split("\n", 1)[1]  # the first one is the pid
unescaped = lambda s: re.sub(r"\\(u(....)|.)", lambda m: chr(int(m[2], 16)) if m[2] else {"n": "?", "t": "?", "r": "?", "f": "?"}.get(m[1], m[1]), s)
properties = {unescaped(m[1]): unescaped(m[2]) for m in re.finditer(r"^([^#][^=]*)=(.*)$", lines, re.M)}
assert len(properties) > 30, properties
del properties["sun.java.command"]
assert properties["api.token"] == "hunter2" and len(properties["long"]) == 6000
properties |= {"api.token": "***", "long": jvm["properties"]["long"]}
differs = jvm["properties"].items() ^ properties.items()
assert not differs, differs
assert re.fullmatch(r"(ab){2000,2047}a?\.\.\.", properties["long"]), properties["long"]
END
braid info --settings a.trace >settings
grep -qxF -- '  -XX:MaxHeapSize=67108864  (command line)' settings || fail "who set MaxHeapSize? $(cat settings)"
grep -qxF -- '  -XX:OnError=echo --db.password=***  (command line)' settings || fail "OnError: $(cat settings)"
grep -qxF -- '  -Dgreeting=good day' settings || fail "a property is missing: $(cat settings)"
grep -qxF -- '  -Dempty=' settings || fail "the empty property is missing: $(cat settings)"
grep -qxF -- '  -Dapi.token=***' settings || fail "a secret's key is missing: $(cat settings)"
grep -q -- '^  -XX:.*(default)$' settings || fail "flags with default values are missing: $(cat settings)"
[[ $(braid info --settings=GREET a.trace) == "pid $JAVA_PID"$'\n  -Dgreeting=good day' ]] ||
	fail "a part: $(braid info --settings=GREET a.trace)"
braid script --raw a.trace >raw
! grep hunter2 raw || fail "a secret is in the trace"
braid info a.trace | finds 'flags .*-XX:+UseSerialGC' || fail "the chosen flags are missing: $(braid info a.trace)"

# Numbers may stay: nobody gave them a name.
braid strip --anonymise -o public.trace a.trace >/dev/null
braid info --settings public.trace >public
! grep -e 'good day' -e db.password -e '^  -D' public || fail "anonymised"
grep -qxF -- '  -XX:MaxHeapSize=67108864  (command line)' public || fail "anonymised too much: $(cat public)"

# What changes while a recording runs has both values.
start_record -q -o b.trace -p "$JAVA_PID"
wait_sampling
wait_joined "$JAVA_PID"
ask w property greeting hello
ask w property added later
by=management
if [[ $(java_version) -ge 9 ]]; then
	"$JAVA_HOME/bin/jcmd" "$JAVA_PID" VM.set_flag MinHeapFreeRatio 35 >/dev/null
else
	"$JAVA_HOME/bin/jinfo" -flag MinHeapFreeRatio=35 "$JAVA_PID"
	by=attach
fi
stop_record
braid info --settings b.trace >settings
grep -qxF -- '  -XX:MinHeapFreeRatio=35  ('"$by"', was 40)' settings || fail "the flag has not changed: $(cat settings)"
grep -qxF -- '  -Dgreeting=hello  (was good day)' settings || fail "the property has not changed: $(cat settings)"
grep -qxF -- '  -Dadded=later' settings || fail "the new property is missing: $(cat settings)"
braid query b.trace "SELECT was || ', ' || value FROM settings WHERE was IS NOT NULL AND key = 'greeting'" | finds '^good day, hello' ||
	fail "query: $(braid query b.trace 'SELECT * FROM settings WHERE was IS NOT NULL')"

end_worker w "$JAVA_PID"

# A program's own properties are code of the program. It is not run for who does not want them, and may fail.
start_program own "$JAVA" -Dgreeting=hello -cp "$CLASSES" OwnProperties
recorded c.trace --no-properties
braid info --settings c.trace | finds "^pid $JAVA_PID  flags and system properties are not known\$" ||
	fail "recorded in spite of --no-properties: $(braid info --settings c.trace)"
braid heap -n 1 "$JAVA_PID" >counted
! grep asked own || fail "the program's code was run for nobody"
recorded d.trace
grep -q asked own || fail "the properties were not asked for"
braid info --settings d.trace | finds '^  -Dgreeting=hello$' || fail "those that the JVM began with are missing: $(braid info --settings d.trace)"
end_program
