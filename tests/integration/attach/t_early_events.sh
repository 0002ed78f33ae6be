#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Events before a JVM is live are recorded, too: native methods are bound from the first instruction on, classes are
# loaded, and a small metaspace causes garbage collections.
# class: quick
source "$(dirname "$0")/../lib.sh"

options=(-XX:+UseSerialGC -Xshare:off -XX:MetaspaceSize=2m)
braid record -q -e cpu,gc,native-bind,class,thread -F 99 -o early.trace -- "$JAVA" "${options[@]}" -version >out 2>&1 ||
	fail "$(cat out)"
# A JVM that ends at once may be gone before its helper thread has said that it is done.
events early.trace \
	"phases in order" '[e.name for e in of("phase") if e.name != "replayed"] == ["agent", "start", "init", "death"] and
		[e.name for e in of("phase")].index("init") <= ([e.name for e in of("phase")] + ["replayed"]).index("replayed")' \
	"native methods, from the first one on" 'len([e for e in of("native_bind") if e.time_ns < of("phase", name="init")[0].time_ns]) > 50 and
		of("native_bind")[0].name.startswith("java.lang.Object.") and all(e.name and e.number for e in of("native_bind"))' \
	"each once" 'max(Counter((e.name, e.number) for e in of("native_bind")).values()) == 1' \
	"classes" 'len([e for e in of("class_load") if e.time_ns < of("phase", name="init")[0].time_ns]) > 50 and all(e.name for e in of("class_load"))' \
	"pauses end, and in order" 'all(e.duration_ns > 0 for e in of("gc_pause")) and
		[e.time_ns for e in of("gc_pause")] == sorted(e.time_ns for e in of("gc_pause"))' \
	"nothing lost" 'lost == []'

# How soon the metaspace is full depends on the JDK.
if "$JAVA" "${options[@]}" -Xlog:gc -version 2>/dev/null | finds 'Pause.*Metadata'; then
	events early.trace "the collection" 'of("gc_pause", detail="Metadata GC Threshold") and
		of("gc_pause")[0].time_ns < of("phase", name="init")[0].time_ns'
fi
