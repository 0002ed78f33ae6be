#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each exhausted resource that the program notices is recorded, without other effects.
source "$(dirname "$0")/../lib.sh"

braid record -e cpu,resource -F 99 -o out.trace -- "$JAVA" -Xmx16m -XX:+UseSerialGC -cp "$CLASSES" Exhaust >out.trace.truth 2>err
events out.trace \
	"heap" 'len(named("resource", "Java heap space|GC overhead limit exceeded")) == one("heap") == 3' \
	"JVM TI has flags for it" 'all(e.flags == 3 for e in named("resource", "Java heap space|GC overhead.*"))' \
	"arrays" 'len(of("resource", name="Requested array size exceeds VM limit")) == one("array") == 2' \
	"threads" 'len(named("resource", "unable to create.*")) == one("threads") == 2' \
	"their flags" 'all(e.flags & 4 for e in named("resource", "unable to create.*"))' \
	"by the main thread" 'all(e.thread.name == "main" for e in of("resource"))' \
	"nothing lost" 'lost == []'

# Together with other events that need stacks.
braid record -e cpu,resource,alloc -F 99 -o stack.trace -- "$JAVA" -Xmx16m -XX:+UseSerialGC -cp "$CLASSES" Exhaust >stack.trace.truth 2>err
events stack.trace "where from" 'len(at("resource", "Exhaust.heap")) == 3 and len(at("resource", "Exhaust.threads")) == 2'
