#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every braid command that README, the pages in docs/ and the manual page show still works, and make knows its targets that they name.
# class: long
# takes: 90 s
# alone: the pages' examples record the whole machine, and so attach to every JVM
source "$(dirname "$0")/../lib.sh"

root=$(readlink -f "$LIB_DIR/../..")
mapfile -t targets < <(find "$root"/{README,CONTRIBUTING}.md "$root/docs" -name '*.md' -exec cat {} + |
	grep -zoP '(`|\n[#$] )(sudo )?make\s+\K[a-z][a-z-]*' | tr '\0' '\n' | sort -u)
[[ ${#targets[@]} -ge 10 ]] || fail "hardly a page names a target of make: ${targets[*]}"
env -u MAKEFLAGS make -C "$root" -n BUILD="$BUILD" "${targets[@]}" >make.out || fail "a page names a target that make does not know"

PATH=$BUILD:$JAVA_HOME/bin:$PATH
export PATH
echo 'class App { public static void main(String[] args) throws Exception { LogCruncher.main(new String[] {"1"}); } }' >App.java
javac -d build/demo "$root/tools/LogCruncher.java" App.java
jar cfe app.jar App -C build/demo .
ln -s "$CLASSES" build/java
"${CC:-gcc}" -O2 -fno-toplevel-reorder -o program "$LIB_DIR/malloc/otel_memory.c"
java -XX:StartFlightRecording=filename=recording.jfr -jar app.jar &>recording.out || fail "$(cat recording.out)"

# column NAME PAGE...: one page after the other, in a directory and with a program of their own.
column()
{
	mkdir "$1"
	cd "$1"
	cp -a ../app.jar ../recording.jfr ../build ../program .
	PREFIX="nice -n 10" start_worker program -XX:NativeMemoryTracking=detail # it works all the time
	tell program burn 600000 # until it is killed
	for page in "${@:2}"; do
		python3 "$TEST_DIR/examples.py" "$root/$page" "$JAVA_PID" "$JAVA_PID"
		rm -f ./*.hprof* # a dump is written to a new file only
	done
	kill "$JAVA_PID"
}

# Those with the most commands first, so that both columns have as many.
mapfile -t pages < <(cd "$root" && grep -rcE --include='*.md' '^[#$] braid ' README.md docs | sort -t: -k2 -nr | sed '/:0$/d; s/:.*//')
[[ ${#pages[@]} -ge 5 ]] || fail "hardly a page shows a command: ${pages[*]}"
mapfile -t left < <(printf '%s\n' "${pages[@]}" | sed -n 'n;p')
mapfile -t right < <(printf '%s\n' "${pages[@]}" | sed -n 'p;n')
(column left docs/man/braid.1 "${left[@]}") &
first=$!
(column right "${right[@]}") &
for pid in "$first" $!; do
	wait "$pid" || fail "a command of a page failed"
done
