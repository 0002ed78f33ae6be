#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# C++ and Rust names, in both of Rust's manglings, and the familiar names of functions of libc and libstdc++.
source "$(dirname "$0")/../lib.sh"

command -v g++ >/dev/null || skip "no C++ compiler"
g++ -O1 -g0 "$TEST_DIR/names.cc" -o program
braid record -q -F 997 -o cc.trace -- ./program 1500
check cc.trace "C++" 'with_frame("shop::Shelf<unsigned int>::order()") and mostly_whole(with_frame("main"))' \
	"nothing mangled" 'not any(plain(f).startswith("_Z") for s, _ in stacks for f in s)'

if command -v rustc >/dev/null; then
	for mangling in legacy v0; do
		rustc -O -C symbol-mangling-version=$mangling "$TEST_DIR/names.rs" -o "rust-$mangling" 2>rustc.err || {
			grep -q 'unstable\|-Z' rustc.err || fail "$(cat rustc.err)"
			echo "note: this rustc has no $mangling mangling"
			continue
		}
		braid record -q -F 997 -o "rust-$mangling.trace" -- "./rust-$mangling"
		check "rust-$mangling.trace" \
			"Rust, $mangling" 'any("shop::weigh_all" in f for s, _ in stacks for f in s)' \
			"a trait's method" 'any("::shop::Sack as " in f and f.find("::Weigh>::weigh") > 0 for s, _ in stacks for f in s)' \
			"nothing mangled" 'not any(plain(f).startswith(("_ZN", "_R")) for s, _ in stacks for f in s)' \
			"whole" 'at_least(i["samples"]["complete"], i["samples"]["total"], 99)'
	done
fi
