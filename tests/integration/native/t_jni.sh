#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Java, native code, Java again and native code again, in one stack and in this order.
source "$(dirname "$0")/../lib.sh"

# The measurement begins when samples of the library have arrived: by then the collector knows the library, even on a
# busy machine.
start_program out "$BUILD/braid" record -F 997 -o j.trace -- "$JAVA" -Djava.library.path="$CLASSES" -cp "$CLASSES" Native
wait_samples 100 "$JAVA_PID"
go_on
wait_end "$JAVA_PID" "the program"
[[ $STATUS -eq 0 ]] || fail "the program ended with $STATUS: $(cat err)"
measured='[(s, n) for s, n in with_frame("burn_native") if {"Native.measured", "foreign_main"} & set(map(plain, s))]'
check j.trace \
	"stacks" "mostly_whole($measured) and all_named($measured) and enough(weight($measured), 600)" \
	"their order" "mostly_match($measured,
		';call_back;.*;Native.callback;Native.inner;Java_Native_inner;burn_native(;|\$)')" \
	"from Java" 'mostly_match([(s, n) for s, n in with_frame("burn_native") if "Native.measured" in map(plain, s)],
		";Native.main;Native.measured;Native.outer;Java_Native_outer;call_back;.*;Native.callback;Native.inner;")' \
	"from a native thread" 'mostly_match(with_frame("foreign_main"), "foreign_main;call_back;.*;Native.callback;Native.inner;")' \
	"the times of native methods" '[n["method"] for n in r["native_methods"]][0] == "Native.inner"' \
	"their own and all" 'at_least(r["native_methods"][0]["self"], weight(with_frame("Native.inner")), 99)' \
	"the outer one" 'any(n["method"] == "Native.outer" and n["total"] >= weight(matching(stacks, "Native.outer;.*Native.inner")) > 10 * n["self"]
		for n in r["native_methods"])' \
	"what the threads did" '0 <= weight(stacks) - sum(s["samples"] for s in r["jvm_states"]) <= sum(p["samples"] for p in r["processes"] if p["name"] != "java")' \
	"in native code" 'at_least(sum(min(s["samples"], weight(with_frame("burn_native"))) for s in r["jvm_states"] if s["state"] == "in_native"),
		weight(with_frame("burn_native")), 99)'
