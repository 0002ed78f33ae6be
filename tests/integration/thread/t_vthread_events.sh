#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# As many virtual threads start and end as in the program's output, with an event each or counted.
# class: long
# takes: 15 s
source "$(dirname "$0")/../lib.sh"

need_jdk 21
"$JDK/bin/javac" -d . "$TEST_DIR/java21/VThreadEvents.java"

all_there()
{
	events "$1" \
		"all that started" 'total(of("vthread_start")) == one("virtual")' \
		"all that ended" 'total(of("vthread_end")) == one("virtual")' \
		"those with names" 'all(len([e for e in of("vthread_start", name=name) if e.number == int(id)]) == 1 and
			len([e for e in of("vthread_end", name=name) if e.number == int(id)]) == 1 for id, name in truth["named"])' \
		"one by one, or counted without a number" 'all((e["value"] == 1) if e.number else (e["value"] > 0 and not e.name)
			for e in of("vthread_start") + of("vthread_end"))' \
		"nothing lost" 'lost == []'
}

braid record -e cpu,vthread=100 -F 99 -o few.trace -- "$JDK/bin/java" -cp . VThreadEvents 20000 >few.trace.truth 2>err
all_there few.trace
events few.trace "few of them one by one" '5 <= len([e for e in of("vthread_start") if e.number]) < one("virtual") / 2'

braid record -e cpu,vthread=0 -F 99 -o all.trace -- "$JDK/bin/java" -cp . VThreadEvents 20000 >all.trace.truth 2>err
all_there all.trace
events all.trace "all of them one by one" 'len({e.number for e in of("vthread_start")}) == one("virtual")'

attach_midway -e cpu,vthread -F 99 -- "$JDK/bin/java" -XX:+EnableDynamicAgentLoading -cp . VThreadEvents 3000 wait
all_there attach.trace

# A JVM without virtual threads reports that, and works.
braid record -e cpu,vthread -F 99 -o old.trace -- "$JAVA" -cp "$CLASSES" ThreadEvents 10 >old.trace.truth 2>err
[[ $(java_version) -ge 21 ]] ||
	events old.trace "says so" 'any("virtual threads" in n for n in notices) and of("vthread_start") == []'
