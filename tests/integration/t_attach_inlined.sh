#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Compiled code that is older than the recording: what is inlined in it is known all the same, with lines.
source "$(dirname "$0")/lib.sh"

# Without the flag compilers note down what is inlined at calls only.
"$JAVA" -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints -cp "$CLASSES" Inlined >inlined.out &
pid=$!
wait_for "compiled code" grep -qs ready inlined.out
braid record -q -F 997 -d 1 -p "$pid" -o a.trace
kill "$pid"
check a.trace "stacks" 'complete() >= 98 and all_named(with_frame("Inlined.outer")) and weight(with_frame("Inlined.outer")) > 100' \
	"what is inlined" 'share(sum(n for s, n in stacks if re.search(r"Inlined.outer_\[[j1]\];Inlined.middle_\[i\];Inlined.inner_\[i\]",
		";".join(s))), weight(with_frame("Inlined.outer"))) >= 60'
braid export --format collapsed --lines a.trace >lines
bad=$(sed 's/ [0-9]*$//; s/.*Inlined.main[^;]*;//' lines | tr ';' '\n' | grep '^Inlined' |
	grep -vcE '^Inlined\.(outer(:(8|9|11))?|middle(:15)?|inner(:19)?|main.*)$') || true
[[ $bad -eq 0 ]] || fail "frames with other lines: $(grep Inlined.outer lines | head -5)"
[[ $(grep -c 'Inlined.middle:15;Inlined.inner:19' lines) -gt 0 ]] || fail "no lines: $(head -5 lines)"
