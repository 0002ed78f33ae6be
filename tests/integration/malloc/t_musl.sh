#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Allocations of programs with musl, whose malloc has no frame description: each one, on its stack, shared or static.
source "$(dirname "$0")/../lib.sh"

command -v musl-gcc >/dev/null || skip "not installed: musl-tools"
LIBRARY=$(readlink -e /lib/ld-musl-x86_64.so.1) || skip "musl has no shared library here"

musl-gcc -g -O1 -fno-optimize-sibling-calls -o shared "$TEST_DIR/musl.c"
musl-gcc -static -g -O1 -fno-optimize-sibling-calls -o static "$TEST_DIR/musl.c"
for program in shared static; do
	file=$LIBRARY
	[[ $program == shared ]] || file=$PWD/static
	braid record -q -e "uprobe:$file:malloc/arg0==1000||arg0==100/{arg0}" -o $program.trace -- "./$program" >truth 2>err ||
		fail "$program: $(cat err)"
	read -r kept dropped <truth
	braid export $program.trace >stacks
	[[ $(sed -n 's/.*;main;keep;malloc //p' stacks) == "$kept" ]] || fail "$program: not $kept kept: $(cat stacks)"
	[[ $(sed -n 's/.*;main;drop;malloc //p' stacks) == "$dropped" ]] || fail "$program: not $dropped dropped: $(cat stacks)"
	[[ $(wc -l <stacks) -eq 2 ]] || fail "$program: other stacks: $(cat stacks)"
done

# A function that is not there, and what is no function.
if braid record -q -e "uprobe:$LIBRARY:no_such_function" -o none.trace -- ./shared >out 2>err; then
	fail "a probe on nothing"
fi
grep -q "no function 'no_such_function' in $LIBRARY" err || fail "$(cat err)"
