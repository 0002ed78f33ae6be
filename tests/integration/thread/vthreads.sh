# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# For the tests of virtual threads' stacks, sourced after lib.sh. JDK is one that has them; their program is compiled.
need_jdk 21
"$JDK/bin/javac" -d . "$TEST_DIR/java21/VThreads.java"

# record_vthreads WHOLE IDENTIFIED NAMED JAVA-OPTION...: see vthreads.py.
record_vthreads()
{
	local -a least=("${@:1:3}")

	shift 3
	braid record -F 997 -o v.trace -- "$JDK/bin/java" "$@" -cp . VThreads 1 park yield pin >out 2>record.err ||
		fail "$* ended with: $(cat record.err)"
	braid script v.trace >v.txt
	python3 "$TEST_DIR/vthreads.py" v.txt out "${least[@]}" || fail "with $*"
}
