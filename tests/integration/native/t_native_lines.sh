#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# record --lines: source lines and inlined functions of native code are in the trace itself: the program no longer
# exists when the trace is read.
source "$(dirname "$0")/../lib.sh"

source_file=$TEST_DIR/lines.c
hot=$(grep -n 'HOT' "$source_file" | cut -d: -f1)
call=$(grep -n 'CALL' "$source_file" | cut -d: -f1)

for option in -gdwarf-4 -gdwarf-5; do
	"${CC:-gcc}" -std=gnu11 -O2 "$option" "$source_file" -o program
	braid record -q --lines -F 997 -o l.trace -- ./program
	rm program
	braid report --json --lines l.trace >lines.json
	python3 - "$hot" <<'EOF' || fail "$option: the hot line is not line $hot: $(head -c 600 lines.json)"
import json, sys
r = json.load(open("lines.json"))
near = [l for l in r["lines"] if l["file"].endswith("lines.c") and l["name"] == "inlined" and abs(l["line"] - int(sys.argv[1])) <= 1]
assert sum(l["self"] for l in near) >= 0.9 * max(m["self"] for m in r["methods"])
EOF
	braid report --full --lines l.trace | finds "lines.c:$hot  inlined" || fail "$option: not in the text"
	braid script --lines l.trace >script.txt
	grep -A3 ' inlined+0x' script.txt | finds "^  lines.c:$call\$" || fail "$option: no line of the call"
	check l.trace "$option: the inlined function is on the stack" 'mostly_match(with_frame("inlined"), ";main;outer[^;]*;inlined(;|$)")'
	braid export --format collapsed --lines l.trace | finds ";outer[^;]*:$call;inlined:" || fail "$option: no lines in stacks"
	rm -f l.trace*
done

"${CC:-gcc}" -std=gnu11 -O2 "$source_file" -o program
braid record -q --lines -F 997 -o none.trace -- ./program
braid report --full --lines none.trace >text
! grep 'lines\.c' text || fail "lines without debug information"
