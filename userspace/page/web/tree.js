/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees of stacks, as columns: parent, label, kind, self and total of each node, its first child and its next sibling.
 * The root is 0. A recording may have millions of nodes, so columns are typed arrays and no function recurses.
 */

/* A graph's tree as it was recorded: every node follows its parent. */
function recordedTree(graph) {
	const count = graph.nodes.length / 3 + 1;
	const tree = {count, parent: new Int32Array(count), label: new Int32Array(count), kind: new Uint8Array(count)};
	tree.label[0] = -1;
	for (let i = 1; i < count; i++) {
		tree.parent[i] = graph.nodes[i * 3 - 3];
		tree.label[i] = graph.nodes[i * 3 - 2];
		tree.kind[i] = graph.nodes[i * 3 - 1];
	}
	return tree;
}

/* Weights per node, of the threads for whose numbers `chosen` has a true value. */
function weigh(tree, samples, chosen) {
	const self = new Float64Array(tree.count);
	for (let i = 0; i < samples.length; i += 3)
		if (chosen[samples[i]])
			self[samples[i + 1]] += samples[i + 2];
	return self;
}

/* The recorded tree with weights. Children stay in the order of their numbers. */
function weighed(recorded, self) {
	const n = recorded.count;
	const tree = {...recorded, self, total: Float64Array.from(self), first: new Int32Array(n).fill(-1), next: new Int32Array(n).fill(-1)};
	for (let i = n - 1; i > 0; i--) {
		const up = tree.parent[i];
		tree.total[up] += tree.total[i];
		tree.next[i] = tree.first[up];
		tree.first[up] = i;
	}
	tree.expand = () => {};
	return tree;
}

/*
 * The same stacks from the leaf: callers are on top of what they call. expand(i) makes the children of node i on
 * demand. A node knows the recorded nodes that it consists of and the weight of each; its children are these nodes'
 * parents by label, each parent once.
 */
function reversed(recorded, self) {
	const tree = {count: 1, parent: [0], label: [-1], kind: [0], self: [0], total: [0], first: [-1], next: [-1]};
	/* what unexpanded nodes consist of: siblings share arrays, each has a part of them */
	const made = [null], from = [0], until = [0];
	const slot = new Int32Array(recorded.count);

	function append(up, label, of, at) {
		const child = tree.count++;
		tree.parent.push(up);
		tree.label.push(label);
		tree.kind.push(0);
		tree.self.push(0);
		tree.total.push(0);
		tree.first.push(-1);
		tree.next.push(tree.first[up]);
		tree.first[up] = child;
		made.push(of);
		from.push(at);
		until.push(at);
		return child;
	}

	/* Adds the children of `up`, which consist of the first `count` of `nodes`: by label, in the order of labels. */
	function add(up, nodes, weights, count) {
		const sizes = new Map(), children = new Map();
		for (let k = 0; k < count; k++) {
			const label = recorded.label[nodes[k]];
			sizes.set(label, (sizes.get(label) || 0) + 1);
		}
		const of = {nodes: new Int32Array(count), weights: new Float64Array(count)};
		let at = 0;
		for (const label of [...sizes.keys()].sort((a, b) => b - a)) {
			children.set(label, append(up, label, of, at));
			at += sizes.get(label);
		}
		for (let k = 0; k < count; k++) {
			const node = nodes[k], child = children.get(recorded.label[node]);
			if (until[child] === from[child])
				tree.kind[child] = recorded.kind[node];
			of.nodes[until[child]] = node;
			of.weights[until[child]++] = weights[k];
			tree.total[child] += weights[k];
			/* a frame without a caller ends here */
			if (recorded.parent[node] === 0)
				tree.self[child] += weights[k];
		}
	}

	tree.expand = i => {
		const of = made[i], ups = new Int32Array(until[i] - from[i]), sums = new Float64Array(ups.length);
		let count = 0;
		if (of === null)
			return;
		made[i] = null;
		for (let k = from[i]; k < until[i]; k++) {
			const up = recorded.parent[of.nodes[k]];
			if (up === 0)
				continue;
			if (slot[up] === 0) {
				ups[count] = up;
				slot[up] = ++count;
			}
			sums[slot[up] - 1] += of.weights[k];
		}
		for (let k = 0; k < count; k++)
			slot[ups[k]] = 0;
		add(i, ups, sums, count);
	};

	const leaves = new Int32Array(recorded.count), weights = new Float64Array(recorded.count);
	let count = 0;
	for (let i = 1; i < recorded.count; i++)
		if (self[i]) {
			leaves[count] = i;
			weights[count++] = self[i];
			tree.total[0] += self[i];
		}
	add(0, leaves, weights, count);
	return tree;
}

/*
 * The nodes that are at least `least` wide when `zoom` is 1: rows[depth] holds node, left and width in a flat list. The
 * first rows are the ancestors of `zoom`.
 */
function layOut(tree, zoom, least) {
	const full = tree.total[zoom], rows = [];
	if (!(full > 0))
		return {rows, above: 0};
	for (let i = zoom; i; i = tree.parent[i])
		rows.unshift([tree.parent[i], 0, 1]);
	const above = rows.length, stack = [[zoom, above, 0]];
	while (stack.length) {
		const [i, depth, left] = stack.pop();
		(rows[depth] ||= []).push(i, left, tree.total[i] / full);
		tree.expand(i);
		let x = left;
		for (let c = tree.first[i]; c >= 0; c = tree.next[c]) {
			const width = tree.total[c] / full;
			if (width >= least)
				stack.push([c, depth + 1, x]);
			x += width;
		}
	}
	return {rows, above};
}

/* The weight of the stacks that have a frame with one of the labels for which `matched` is true. */
function weightOf(recorded, self, matched) {
	const inside = new Uint8Array(recorded.count);
	let sum = 0;
	for (let i = 1; i < recorded.count; i++)
		if (inside[recorded.parent[i]] || matched[recorded.label[i]]) {
			inside[i] = 1;
			sum += self[i];
		}
	return sum;
}
