#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Java, native code, Java again and native code again, in one stack and in this order.
source "$(dirname "$0")/lib.sh"

# The library is loaded right before it burns: on a busy machine its first samples come before the collector has told of it.
braid record -F 997 -o j.trace -- "$JAVA" -Djava.library.path="$CLASSES" -cp "$CLASSES" Native 2>err
check j.trace \
	"stacks" 'whole(with_frame("burn_native")) >= 95 and all_named(with_frame("burn_native"))' \
	"enough of them" 'weight(with_frame("burn_native")) > 300' \
	"their order" 'all_match(with_frame("burn_native"),
		";call_back;.*;Native.callback;Native.inner;Java_Native_inner;burn_native(;|$)") >= 95' \
	"from Java" 'all_match(with_frame("Native.main"), "Native.outer|Native.foreign|Native.main(;|$)") == 100 and
		all_match([(s, n) for s, n in with_frame("burn_native") if "Native.main" in map(plain, s)],
		";Native.main;Native.outer;Java_Native_outer;call_back;.*;Native.callback;Native.inner;") >= 99' \
	"from a native thread" 'weight(with_frame("foreign_main")) > 100 and
		all_match(with_frame("foreign_main"), "foreign_main;call_back;.*;Native.callback;Native.inner;") >= 95'
