#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Classes are loaded and unloaded exactly as in the JVM's own log and counters.
# shellcheck disable=SC2016 # names of classes have dollar signs
source "$(dirname "$0")/../lib.sh"

log_options()
{
	if "$JAVA" -Xlog:disable -version >/dev/null 2>&1; then
		echo "-Xlog:class+load=info:file=load.log"
	else
		echo "-verbose:class -XX:+UnlockDiagnosticVMOptions -XX:+LogVMOutput -XX:LogFile=load.log -XX:-DisplayVMOutput"
	fi
}

# shellcheck disable=SC2046 # options
braid record -e cpu,class -F 99 -o start.trace -- "$JAVA" $(log_options) -cp "$CLASSES" ClassEvents 300 >start.trace.truth 2>err
events start.trace \
	"every loader's class, once" 'len(of("class_load", name="ClassEvents$Template")) == one("shops")' \
	"half of them linked" 'len(of("class_prepare", name="ClassEvents$Template")) == one("shops") / 2' \
	"where from" 'of("class_load", name="ClassEvents$Template")[0].detail == "ClassEvents$Shop" and
		of("class_load", name="ClassEvents$Template")[0].text == "ClassEvents.java" and
		of("class_load", name="ClassEvents")[0].detail == "app" and
		of("class_load", name="java.util.ArrayList$Itr") == [] or of("class_load")[0].detail == "boot"' \
	"modifiers" 'all(e["value"] & 0x1 for e in of("class_load", name="ClassEvents$Template"))' \
	"unloaded" 'total(of("class_unload")) == one("unloaded") and one("unloaded") >= one("shops") and
		stats["classes_unloaded"] == one("unloaded")' \
	"phases in order" '[e.name for e in of("phase")] == sorted([e.name for e in of("phase")],
		key=["agent", "start", "init", "replayed", "death"].index) and len(of("phase")) == 5' \
	"nothing lost" 'lost == []'
events start.trace --names class_load >names
python3 "$TEST_DIR/class_log.py" load.log names || fail "the load events differ from the log"

# Classes loaded before are counted; later ones have events.
attach_midway -e cpu,class -F 99 -- "$JAVA" -cp "$CLASSES" ClassEvents 100 wait
events attach.trace \
	"every loader's class, once" 'len(of("class_load", name="ClassEvents$Template")) == one("shops")' \
	"unloaded" 'total(of("class_unload")) == one("unloaded")' \
	"older classes" '0 < of("phase", name="replayed")[0]["value"]' \
	"nothing lost" 'lost == []'

# A class that is loaded while the agent is being loaded is either counted with the older ones or has an event. The JVM's
# counter is not atomic: of some 10,000 classes that four threads load, one is missing in some runs. Its log has all.
mkfifo loading.in
# shellcheck disable=SC2046 # options
"$JAVA" $(log_options) -cp "$CLASSES" Loading <loading.in >loading.trace.truth 2>err &
JAVA_PID=$!
exec {LOADING}>loading.in
wait_for "the program" grep -qs ready loading.trace.truth
start_record -e class -p "$JAVA_PID" -o loading.trace
wait_attached "$JAVA_PID"
wait_events "$JAVA_PID"
echo >&"$LOADING"
wait_for "the program's end" grep -qs end loading.trace.truth
loaded=$(grep -c ' source: ' load.log) || loaded=$(sed -n 's/^loaded //p' loading.trace.truth | tail -n 1) # JDK 8
stop_record
echo >&"$LOADING"
wait_end "$JAVA_PID" "the program"
events loading.trace \
	"each once" 'of("phase", name="replayed")[0]["value"] + len(of("class_load")) == '"$loaded" \
	"while it was enabled" 'len(of("class_load", name="ClassEvents$Template")) > 0' \
	"nothing lost" 'lost == []'

# Without the event type there are none.
braid record -e cpu -F 99 -o none.trace -- "$JAVA" -cp "$CLASSES" ClassEvents 10 >/dev/null 2>err
events none.trace "none" 'of("class_load") == [] and of("class_unload") == [] and of("thread_start") == []'
