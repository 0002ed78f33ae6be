#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The request that a thread serves, in the variable of OpenTelemetry's thread context: every sample in a function that
# serves it has its span, and no other sample has one. The variable is in the program, or in libraries of all TLS models.
# class: long
# takes: 20 s
# shellcheck source=tests/integration/lib.sh
source "$(dirname "$0")/../lib.sh"

CC=${CC:-gcc}
flags=(-std=gnu11 -O1 -g -I"$TEST_DIR")

# build_library NAME FLAG...
build_library()
{
	local name=$1

	shift
	"$CC" "${flags[@]}" -fPIC -shared "$@" "$TEST_DIR/variable.c" -o "$name.so"
}

# has_relocation FILE TYPE: the linker has made what the case is to test.
has_relocation()
{
	readelf -rW "$1" | finds "$2" || fail "$1 has no $2"
}

# serves CASE COMMAND...
serves()
{
	local name=$1

	shift
	start_program out "$@"
	start_record -F 997 -o "$name.trace" -p "$JAVA_PID"
	wait_sampling
	go_on
	wait_samples 500
	end_program
	end_record
	braid script "$name.trace" >"$name.txt"
	python3 "$TEST_DIR/spans.py" "$name.txt" '\bserve_([0-9])' '^(?!.*serve_).*work\+' || fail "$name"
	braid script --raw "$name.trace" >raw
	! grep '^loss' raw || fail "$name has losses"
}

"$CC" "${flags[@]}" -DINSIDE -DBESIDE=100 -rdynamic "$TEST_DIR/serve.c" "$TEST_DIR/variable.c" -o inside -pthread -ldl
serves inside ./inside

# What reads traces knows spans.
braid report --by span --json inside.trace >report.json
python3 - report.json inside.txt <<'END' || fail "report --by span"
import json, re, sys
r = json.load(open(sys.argv[1]))
script = open(sys.argv[2]).read()
assert r["samples_in_spans"] == sum(s["samples"] for s in r["by_samples"]) == len(re.findall("^# trace ", script, re.M)), r
assert {s["span"][-8:] for s in r["by_samples"]} == {f"{n:08x}" for n in range(1, 5)}, r
assert {s["trace"] for s in r["by_samples"]} == {n * 16 for n in ("10", "11", "12")}, r
END
braid export --span a100000000000002 inside.trace >two.txt
grep -q 'serve_2' two.txt || fail "--span selects nothing"
grep 'serve_[^2]' two.txt && fail "--span selects another span"
braid script --trace 12121212121212121212121212121212 inside.trace >trace.txt
grep -q '^# trace 12121212121212121212121212121212 span a2' trace.txt || fail "--trace selects nothing"
grep '^# trace' trace.txt | grep -v 1212121212 && fail "--trace selects another trace"
"$CC" "${flags[@]}" -DINSIDE -no-pie -static -Wl,--export-dynamic-symbol=otel_thread_ctx_v1 "$TEST_DIR/serve.c" \
	"$TEST_DIR/variable.c" -o static -pthread 2>/dev/null && readelf --dyn-syms static | finds otel_thread && serves static ./static

"$CC" "${flags[@]}" "$TEST_DIR/serve.c" -o outside -pthread -ldl
build_library dynamic -DBESIDE=40
has_relocation dynamic.so R_X86_64_DTPMOD64
serves dynamic ./outside ./dynamic.so
build_library large -DBESIDE=30000 # too large for what is left of the static block
serves large ./outside ./large.so
build_library local -DBESIDE=40 -Wl,-Bsymbolic
serves local ./outside ./local.so
build_library initial -ftls-model=initial-exec
has_relocation initial.so R_X86_64_TPOFF64
serves initial ./outside ./initial.so
if build_library descriptor -mtls-dialect=gnu2 -DBESIDE=40 2>/dev/null; then
	has_relocation descriptor.so R_X86_64_TLSDESC
	serves descriptor ./outside ./descriptor.so
	build_library descriptors -mtls-dialect=gnu2 -DBESIDE=30000
	serves descriptors ./outside ./descriptors.so
fi

# The program refers to the variable of a library that it is linked with.
"$CC" "${flags[@]}" -DINSIDE "$TEST_DIR/serve.c" ./dynamic.so -Wl,-rpath,"$PWD" -o linked -pthread -ldl
serves linked ./linked

# A program that is launched: its first moments may be without.
mkfifo launched.in
exec {launched}<>launched.in
start_record -F 997 -o launched.trace -- sh -c './inside <launched.in >out 2>err'
echo >&"$launched"
wait_samples 3000
echo >&"$launched"
end_record
braid script launched.trace >launched.txt
python3 "$TEST_DIR/spans.py" launched.txt '\bserve_([0-9])' '^(?!.*serve_).*work\+' 90 || fail "launched"
