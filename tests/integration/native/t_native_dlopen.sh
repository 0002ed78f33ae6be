#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two libraries alternate at one address: samples in one are not attributed to the other, and the first samples after a
# dlopen are whole, too.
source "$(dirname "$0")/../lib.sh"

"${CC:-gcc}" -std=gnu11 -O1 -fPIC -shared -DNAME=in_first "$TEST_DIR/library.c" -o first.so
"${CC:-gcc}" -std=gnu11 -O1 -fPIC -shared -DNAME=in_other "$TEST_DIR/library.c" -o other.so
"${CC:-gcc}" -std=gnu11 -O1 -fno-optimize-sibling-calls "$TEST_DIR/churn.c" -o churn -ldl
braid record -q -F 1999 -o d.trace -- ./churn ./first.so ./other.so 80 >same
[[ $(cat same) -gt 40 ]] || skip "the libraries do not lie at the same address: $(cat same) of 80"
check d.trace \
	"samples" 'about(weight(with_frame("in_first")), weight(with_frame("in_first")) + weight(with_frame("in_other")), 50, 5)' \
	"nothing misattributed" 'not [s for s, _ in with_frame("call_first") if "in_other" in map(plain, s)] and
		not [s for s, _ in with_frame("call_second") if "in_first" in map(plain, s)]' \
	"their callers" 'mostly_match(with_frame("in_first"), ";call_first;work;in_first(;|$)") and
		mostly_match(with_frame("in_other"), ";call_second;work;in_other(;|$)")' \
	"whole" 'at_least(i["samples"]["complete"], i["samples"]["total"], 95)'
