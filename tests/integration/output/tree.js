// SPDX-License-Identifier: Apache-2.0
// node tree.js TREE-JS FOLD-JS: checks the page's trees, and that the largest can be displayed.
"use strict";
const assert = require("assert");
const fs = require("fs");
const vm = require("vm");

for (const file of process.argv.slice(2))
	vm.runInThisContext(fs.readFileSync(file, "utf8"));

let seed = 12345;
function random(n) {
	seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
	return Math.floor(seed / 0x80000000 * n);
}

/* Random nodes, each after its parent, and weights of two threads. */
function graphOf(nodes, labels, near) {
	const graph = {labels: Array.from({length: labels}, (_, k) => "label" + k), nodes: [], samples: []};
	for (let i = 1; i <= nodes; i++) {
		graph.nodes.push(i - 1 - random(Math.min(i, near)), random(labels), random(8));
		if (random(3) === 0)
			graph.samples.push(random(2), i, 1 + random(5));
	}
	return graph;
}

/* The labels of the stack of node i, from the root. */
function stackOf(tree, i) {
	const stack = [];
	for (; i; i = tree.parent[i])
		stack.unshift(tree.label[i]);
	return stack;
}

/* Every node of an expandable tree: "labels from the root" to its total and self. */
function all(tree) {
	const found = {}, todo = [0];
	while (todo.length) {
		const i = todo.pop();
		found[stackOf(tree, i).join()] = [tree.total[i], tree.self[i]];
		tree.expand(i);
		for (let c = tree.first[i], before = -1; c >= 0; before = tree.label[c], c = tree.next[c]) {
			assert.strictEqual(tree.parent[c], i);
			if (tree.reversed)
				assert(tree.label[c] > before, "siblings are not in the order of their names");
			todo.push(c);
		}
	}
	return found;
}

for (let round = 0; round < 40; round++) {
	const graph = graphOf(1 + random(60), 4, 6), recorded = recordedTree(graph);
	const chosen = [true, round % 2 === 0], self = weigh(recorded, graph.samples, chosen), wanted = {"": [0, 0]};
	for (let i = 1; i < recorded.count; i++) {
		const stack = stackOf(recorded, i).reverse();
		for (let depth = 0; self[i] && depth <= stack.length; depth++) {
			const sums = wanted[stack.slice(0, depth).join()] ||= [0, 0];
			sums[0] += self[i];
			sums[1] += depth === stack.length ? self[i] : 0;
		}
	}
	assert.deepStrictEqual(all({...reversed(recorded, self), reversed: true}), wanted);

	let matching = 0;
	for (let i = 1; i < recorded.count; i++)
		matching += stackOf(recorded, i).includes(2) ? self[i] : 0;
	assert.strictEqual(weightOf(recorded, self, [false, false, true, false]), matching);
	const forward = weighed(recorded, self, null);
	assert.strictEqual(forward.total[0], wanted[""][0]);

	/* what a label weighs, and what its callers and callees add up to, each stack once */
	const sums = sumsByLabel(forward, 4), outer = outermost(recorded, 2);
	assert.strictEqual(sums.total[2], matching);
	assert.strictEqual(outer.reduce((sum, i) => sum + forward.total[i], 0), matching);
	assert.strictEqual(all(calledBy(forward, outer))[""][0], matching);
	assert.strictEqual(sums.self.reduce((a, b) => a + b), wanted[""][0]);
	for (const node of outer)
		assert.strictEqual(weightsUnder(recorded, self, forward, node, false).reduce((a, b) => a + b), forward.total[node]);

	/* a fold keeps every weight; a frame of a folded recursion is not below itself */
	graph.labels = ["a", "b", "c", "d"];
	for (const made of [folded(recorded, graph, {plumbing: true, recursion: true}), byThread(recorded, graph, thread => "t" + thread)])
		assert.strictEqual(weighed(made, weigh(made, graph.samples, chosen), null).total[0], wanted[""][0]);
	const once = folded(recorded, graph, {plumbing: false, recursion: true});
	for (let i = 1; i < once.count; i++)
		assert.strictEqual(new Set(stackOf(once, i)).size, stackOf(once, i).length);
}

/*
 * What starts a thread is one frame, whichever way it takes, and also without the names that the C library's debug symbols
 * have; a recursion through others is folded.
 */
for (const [clone, start] of [["clone3", "start_thread"], ["[libc.so.6+0x1098e1]", "[libc.so.6+0x88ef0]"]]) {
	const labels = [clone, start, "JavaMain", "thread_native_entry(Thread*)", "call_stub", "A.run", "B.visit", "C.accept"];
	const graph = {labels, samples: [0, 5, 1, 1, 8, 2, 0, 12, 4], nodes: [[0, 0], [1, 1], [2, 2], [3, 4], [4, 5], [2, 3], [6, 4], [7, 5], [8, 6], [9, 7], [10, 6], [11, 7]].flatMap(([up, label]) => [up, label, 0])};
	const recorded = recordedTree(graph), tree = folded(recorded, graph, {plumbing: true, recursion: true}), of = node => stackOf(tree, tree.place(0, node)).map(label => labels[label]).join();
	assert.strictEqual(of(5), clone + " \u2026 call_stub,A.run");
	assert.strictEqual(of(8), of(5));
	assert.strictEqual(of(12), clone + " \u2026 call_stub,A.run,B.visit,C.accept");
	assert.strictEqual(weighed(tree, weigh(tree, graph.samples, [true, true]), null).total[0], 7);
	const by = byThread(tree, graph, thread => "thread " + thread);
	assert.deepStrictEqual([0, 1].map(thread => stackOf(by, by.place(thread, thread ? 8 : 5)).map(label => labels[label]).join()),
		["thread 0," + of(5), "thread 1," + of(8)]);
}

/*
 * 600,000 stacks of 40 frames, most of which begin alike and no two of which end alike: 20 million nodes when all are
 * reversed, more than a Map holds. A few thousand are at least half a pixel wide.
 */
const graph = {labels: Array.from({length: 40}, (_, k) => "f" + k), nodes: [], samples: []}, path = [0];
for (let leaf = 0, count = 0; leaf < 600000; leaf++) {
	path.length = leaf === 0 ? 1 : 37 + random(4);
	while (path.length <= 40) {
		graph.nodes.push(path[path.length - 1], path.length === 40 ? random(5) : random(40), 4);
		path.push(++count);
	}
	graph.samples.push(0, path[40], 5);
}
const recorded = recordedTree(graph), self = weigh(recorded, graph.samples, [true]), tree = reversed(recorded, self);
const {rows} = layOut(tree, 0, 0.4 / 1500);
assert.strictEqual(tree.total[0], 3000000);
assert(rows.length === 3 && tree.count < 100000, rows.length + " rows of " + tree.count + " nodes");
for (const row of rows)
	assert(row.filter((_, k) => k % 3 === 2).reduce((a, b) => a + b) <= 1 + 1e-9);
/* Zooming expands more of it, down to the stacks' first frames. */
let deepest = rows[2][0];
for (let depth = 2; depth < 40; depth++) {
	layOut(tree, deepest, 0.4 / 1500);
	for (let c = deepest = tree.first[deepest]; c >= 0; c = tree.next[c])
		deepest = tree.total[c] > tree.total[deepest] ? c : deepest;
}
assert(tree.self[deepest] > 0 && tree.self[deepest] === tree.total[deepest], "a stack has an end");
assert(tree.count < 1000000, tree.count + " nodes");
