#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Histograms and dumps are right while Shenandoah moves objects: it does so all the time here, and each object counts once,
# with its fields, wherever references to it still lead.
# class: long
# takes: 25 s
# shellcheck disable=SC2016 # names of classes have dollar signs
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/dumps.sh"

# It is built into most JDKs only, and experimental in some.
SHENANDOAH=(-XX:+UnlockExperimentalVMOptions -XX:+UnlockDiagnosticVMOptions -XX:+UseShenandoahGC
	-XX:ShenandoahGCHeuristics=aggressive -XX:ConcGCThreads=1 -XX:ParallelGCThreads=1)
"$JAVA" "${SHENANDOAH[@]}" -version &>version || skip "this JDK has no Shenandoah"

export PYTHONPATH=$PYTHONPATH:$TEST_DIR
start_program out "$JAVA" -Xmx128m "${SHENANDOAH[@]}" -cp "$CLASSES" HeapMoving
for ((i = 0; i < 4; i++)); do
	braid heap "$JAVA_PID" --json -n 1000 --max-pause 1h >counts.json 2>said || fail "$(cat said)"
	rm -f x.hprof
	dump x.hprof --max-pause 1h
	python3 - <<-'PYTHON' || fail "see above"
		import json
		from hprof import Dump

		# The table has 20,000 nodes with one more each; a node that is not yet in the table has one, too.
		nodes = range(40000, 40003)
		heap = json.load(open("counts.json"))
		counted = {r["class"]: r["objects"] for r in heap["classes"]}
		assert heap["histograms"][-1]["copied"]
		assert counted["HeapMoving$Node"] in nodes and counted["HeapMoving$Node[]"] == 1, counted["HeapMoving$Node"]
		d = Dump("x.hprof")
		assert sum(d.class_of(i) == "HeapMoving$Node" for i in d.instances) in nodes
		table = next(c for c in d.classes.values() if c.name == "HeapMoving").statics["table"][1]
		for n, node in enumerate(d.arrays[table][1]):
		    f = {name: v for _, name, _, v in d.fields(node)}
		    assert f["value"] == n and d.get(f["next"], "value") == n + 1, (n, f)
		    assert d.values[f["bytes"]][1] == 100 and d.values[f["bytes"]][2][0] == n % 256, n
	PYTHON
done
end_program
