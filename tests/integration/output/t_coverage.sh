#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# docs/jvmti-coverage.md has a row for everything, and agrees with the agent and the commands.
# class: quick
# shellcheck disable=SC2016 # names between backticks
source "$(dirname "$0")/../lib.sh"

root=$(readlink -f "$LIB_DIR/../..")
coverage()
{
	python3 "$TEST_DIR/coverage.py" "$1" "$BUILD/braid" "$JAVA_HOME/include/jvmti.h" 2>errors
}
coverage "$root" || fail "$(cat errors)"

# The check detects a call without a row, a row without a call, and an unknown option.
mkdir -p copy/docs
cp -r "$root/agent" copy/
cp "$root/docs/jvmti-coverage.md" copy/docs/
expect()
{
	! coverage copy || fail "not noticed: $1"
	grep -q "$1" errors || fail "expected '$1': $(cat errors)"
	cp "$root/docs/jvmti-coverage.md" copy/docs/
}
sed -i '/`GetMaxLocals`/d' copy/docs/jvmti-coverage.md
expect 'GetMaxLocals has no row'
sed -i '/`ThreadStart`/s/| used |/| kernel side |/' copy/docs/jvmti-coverage.md
expect 'ThreadStart is said to be kernel side'
sed -i '/`GetPhase`/s/`record`/`record --no-such-option`/' copy/docs/jvmti-coverage.md
expect 'GetPhase.*is not in --help'
echo 'void more(jvmtiEnv *e) { (*e)->PopFrame(e, 0); }' >copy/agent/more.c
expect 'PopFrame is said to be not used'
rm copy/agent/more.c
sed -i 's/`loads.c`, //' copy/docs/jvmti-coverage.md
expect 'mutexes: loads.c: not named'
sed -i '/`GetLoadedClasses`/s/`record -e method`, //' copy/docs/jvmti-coverage.md
expect 'GetLoadedClasses: agent/timing/timing.c uses it for field and method'
sed -i '/`OBJECT_FREE`/s/`ObjectFree`/-/' copy/docs/jvmti-coverage.md
expect 'OBJECT_FREE: JVM TI has ObjectFree'
sed -i '/`Allocate`/s/malloc/mmap/' copy/docs/jvmti-coverage.md
expect "Allocate: is the agent's memory malloc's"
echo 'static void more(void) { free(0); }' >>copy/agent/events/gc.c
expect 'gc.c runs in pauses and uses free'
cp "$root/docs/matrix.md" copy/docs/
cp "$root/README.md" copy/
sed 's/of three other kernels/other kernels/' "$root/docs/accuracy.md" >copy/docs/accuracy.md
expect 'docs/accuracy.md does not say of the matrix'
cp "$root/docs/accuracy.md" copy/docs/
sed 's/[0-9]* combinations/many combinations/' "$root/README.md" >copy/README.md
expect 'README.md does not say of the matrix'
