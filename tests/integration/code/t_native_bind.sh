#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Native methods and the functions that they are bound to; a function without a symbol has its method's name.
# takes: 8 s
source "$(dirname "$0")/../lib.sh"

cp "$CLASSES/libbound.so" .
strip libbound.so
for mode in -Xmixed -Xint; do
	braid record -e cpu,native-bind -F 997 -o bind.trace -- "$JAVA" "$mode" -cp "$CLASSES" Bound "$PWD/libbound.so" \
		>bind.trace.truth 2>err
	events bind.trace \
		"each once" 'len(of("native_bind", name="Bound.byName")) == 1 and len(of("native_bind", name="Bound.registered")) == 1' \
		"found by its name" 'of("native_bind", name="Bound.byName")[0].text == "Java_Bound_byName"' \
		"registered" 'of("native_bind", name="Bound.registered")[0].number == one("address", "Bound.registered") and
			of("native_bind", name="Bound.registered")[0].text == ""' \
		"with their functions" 'all(e.text for e in named("native_bind", "java.lang.Object.*|java.lang.System.*|java.lang.Thread.*"))' \
		"those of the start, too" 'len(named("native_bind", "java.lang.Object.hashCode|java.lang.System.*|java.lang.Thread.*")) > 3 and
			all(e.name and e.number for e in of("native_bind"))' \
		"nothing lost" 'lost == []'
	check bind.trace \
		"the function's samples, below them the method's" '[s for s, n in stacks if s[-1] == "Bound.registered"] and
			all(plain(s[-2]) == "Bound.registered" != s[-2] for s, n in stacks if s[-1] == "Bound.registered")'
done

# In a running JVM, as they are bound.
start_worker late
start_record -e cpu,native-bind -F 99 -p "$JAVA_PID" -o late.trace
wait_attached "$JAVA_PID"
ask late gc 1
stop_record
end_worker late "$JAVA_PID"
events late.trace "no complaint" 'not any("native" in n for n in notices) and lost == []'
