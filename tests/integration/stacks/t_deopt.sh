#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Compiled code that meets cases that it was not compiled for, with the reasons in the JVM's own log where it has one.
source "$(dirname "$0")/../lib.sh"

version=$(java_version)
log=()
[[ $version -lt 18 ]] || log=(-Xlog:deoptimization=debug:deopt.log)
mkfifo in
"$BUILD/braid" record -e jit -o trace -- "$JAVA" "${log[@]}" -Xmx64m -cp "$CLASSES" Storm 24 wait <in 2>record.err &
RECORD_PID=$!
exec {IN}>in
wait_child "$RECORD_PID" java
wait_events "$CHILD"
echo >&"$IN"
end_record
if [[ $version -lt 11 ]]; then
	events trace "reported, or a notice gives the reason" 'of("deopt") or len([n for n in notices if "deoptimisations" in n]) == 1' \
		"and nothing else" 'lost == []'
	exit 0
fi
# "cid=  26     level=4 Storm.length(Ljava/lang/String;)I trap_bci=1 null_check maybe_recompile pc=..."
if [[ -s deopt.log ]]; then
	sed -n 's/.*cid= *\([0-9]*\) .*trap_bci=[-0-9]* \(osr_bci=[-0-9]* \)\?\([a-z_0-9]*\) \([a-z_]*\) pc=.*/trap \1 \3 \4/p' deopt.log >trace.truth
	[[ $(wc -l <deopt.log) -eq $(wc -l <trace.truth) ]] || fail "another form of log: $(cat deopt.log)"
	events trace "the same traps" 'sorted((e.detail, e.text) for e in of("deopt") if e.detail != "lazy") ==
			sorted((reason, action) for _, reason, action in truth["trap"])' \
		"in the same code" 'not Counter((str(e.number), e.detail, e.text) for e in of("deopt") if e.detail != "lazy" and e.number) -
			Counter(tuple(t) for t in truth["trap"])'
fi
# Which of them finds its method compiled is chance.
events trace "surprises" '[{e.detail for e in at("deopt", "Storm.length")} >= {"null_check"},
		{e.detail for e in at("deopt", "Storm.branch")} >= {"unstable_if"},
		{e.detail for e in at("deopt", "Storm.measure")} >= {"class_check"}].count(True) >= 1' \
	"of known code, but for what came before the JVM was known" 'len([e for e in of("deopt") if e.number]) > len(of("deopt")) / 2' \
	"the method is the one whose code is left" 'all(e.name in e.stack for e in of("deopt") if e.number)' \
	"which was compiled" 'all(any(c.number == e.number and c.name == e.name for c in of("compile")) for e in of("deopt") if e.number)' \
	"mixed stacks" 'all(e.stack[0] in ("Deoptimization::uncommon_trap(JavaThread*, int, int)", "Deoptimization::fetch_unroll_info(JavaThread*, int)",
			"_ZN14Deoptimization13uncommon_trapEP10JavaThreadii", "_ZN14Deoptimization17fetch_unroll_infoEP10JavaThreadi")
		for e in of("deopt"))' \
	"whole" 'at_least(sum("[incomplete]" not in e.stack for e in of("deopt") if e.number), len([e for e in of("deopt") if e.number]), 99)' \
	"nothing lost" 'lost == []'
