#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Inlining in compiled code that is older than the recording is known all the same, with lines.
source "$(dirname "$0")/../lib.sh"

# Without the flag compilers record inlining only at calls; with -Xbatch the code is compiled when it is ready, even on
# a busy machine.
"$JAVA" -Xbatch -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints -cp "$CLASSES" Inlined >inlined.out &
pid=$!
wait_for "compiled code" grep -qs ready inlined.out
start_record -F 997 -p "$pid" -o a.trace
wait_replayed "$pid"
early=$(samples) # they may precede the agent's report of the inlining
wait_samples 500
stop_record
kill "$pid"
check a.trace "stacks" 'well() and all_named(with_frame("Inlined.outer"))' \
	"what is inlined" "at_least(min($early + sum(n for s, n in stacks if re.search(r'Inlined.outer_\[[j1i]\];Inlined.middle_\[i\];Inlined.inner_\[i\]',
		';'.join(s))), weight(with_frame('Inlined.outer'))), weight(with_frame('Inlined.outer')), 90)"
braid export --format collapsed --lines a.trace >lines
bad=$(sed 's/ [0-9]*$//; s/.*Inlined.main[^;]*;//' lines | tr ';' '\n' | grep '^Inlined' |
	grep -vcE '^Inlined\.(outer(:(8|9|11))?|middle(:15)?|inner(:19)?|main.*)$') || true
[[ $bad -eq 0 ]] || fail "frames with other lines: $(grep Inlined.outer lines | head -5)"
[[ $(grep -c 'Inlined.middle:15;Inlined.inner:19' lines) -gt 0 ]] || fail "no lines: $(head -5 lines)"
