#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Static and stripped programs without their own CFI: whole stacks, and names from a debug file beside them.
# class: long
# takes: 15 s
source "$(dirname "$0")/../lib.sh"

build()
{
	local name=$1

	shift
	"${CC:-gcc}" -std=gnu11 -g -O2 -fno-optimize-sibling-calls -fno-inline -fno-asynchronous-unwind-tables -fno-unwind-tables \
		"$@" "$TEST_DIR/plain.c" -o "$name"
}

for kind in "-static -no-pie" "-static-pie -fPIE" "-pie -fPIE"; do
	name=stripped${kind//[^a-z]/_}
	# shellcheck disable=SC2086 # options
	build "$name" $kind
	strip "$name"
	braid record -q -F 997 -o "$name.trace" -- "./$name" 0.6
	check "$name.trace" "$name: whole" 'at_least(i["samples"]["complete"], i["samples"]["total"], 99)' \
		"$name: by module and offset" "at_least(weight([(s, n) for s, n in stacks if any(f.startswith('[$name+0x') for f in s)]), i['samples']['total'], 80)" \
		"$name: deep ones" "max(len(s) for s, _ in stacks) >= 14"
done

# By the name that .gnu_debuglink gives, checked by its CRC; without a build-id.
build linked -Wl,--build-id=none
objcopy --only-keep-debug linked linked.debug
strip linked
objcopy --add-gnu-debuglink=linked.debug linked
braid record -q -F 997 -o linked.trace -- ./linked 0.4
check linked.trace "names by debuglink" 'with_frame("burn") and with_frame("dive")'

# Another program's debug file is ignored.
cp linked.debug kept.debug
build other -Wl,--build-id=none -DOTHER
objcopy --only-keep-debug other linked.debug
printf 'x' >>linked.debug
braid record -q -F 997 -o wrong.trace -- ./linked 0.4
check wrong.trace "no names by a wrong debug file" 'not with_frame("burn") and enough(i["samples"]["total"], 400)'
