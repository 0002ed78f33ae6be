#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two libraries alternate at one address: samples in one are not attributed to the other, and the first samples after a
# dlopen are whole, too.
source "$(dirname "$0")/../lib.sh"

"${CC:-gcc}" -std=gnu11 -O1 -fPIC -shared -DNAME=in_first "$TEST_DIR/library.c" -o first.so
"${CC:-gcc}" -std=gnu11 -O1 -fPIC -shared -DNAME=in_other "$TEST_DIR/library.c" -o other.so
"${CC:-gcc}" -std=gnu11 -O1 -fno-optimize-sibling-calls "$TEST_DIR/churn.c" -o churn -ldl
# What is sampled before the recorder knows the newest library has no frame, and can be of either of the two. On a busy
# machine that is a third. A CPU that a virtual machine does not get for some milliseconds counts as CPU time and has no
# samples, which moves shares of so few.
"${UNDISTURBED[@]}" "$BUILD/braid" record -q -F 1999 -o d.trace -- nice -n 20 ./churn ./first.so ./other.so 40 >said
read -r same first <said
[[ $same -gt 20 ]] || skip "the libraries do not lie at the same address: $same of 40"
late='weight([(s, n) for s, n in stacks if s == ["[incomplete: no_mapping]"]])'
all="(weight(with_frame('in_first')) + weight(with_frame('in_other')) + $late)"
check d.trace \
	"samples of the first" "at_least(weight(with_frame('in_first')) + $late, $all, $first - 15)" \
	"samples of the other" "at_most(weight(with_frame('in_first')), $all, $first + 15)" \
	"nothing misattributed" 'not [s for s, _ in with_frame("call_first") if "in_other" in map(plain, s)] and
		not [s for s, _ in with_frame("call_second") if "in_first" in map(plain, s)]' \
	"their callers" 'mostly_match(with_frame("in_first"), ";call_first;work;in_first(;|$)") and
		mostly_match(with_frame("in_other"), ";call_second;work;in_other(;|$)")' \
	"whole" "at_least(i['samples']['complete'], i['samples']['total'], 30) and
		at_least(i['samples']['complete'] + $late, i['samples']['total'], 98)"
