/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees of stacks, as columns: parent, label, kind, self and total of each node, its first child and its next sibling.
 * The root is 0. A recording may have millions of nodes, so columns are typed arrays and no function recurses.
 */

/*
 * A graph's tree as it was recorded: every node follows its parent. place(thread, node) is the node that a thread's recorded
 * node is in the tree, see fold.js.
 */
function recordedTree(graph) {
	const count = graph.nodes.length / 3 + 1;
	const tree = {count, labels: graph.labels, parent: new Int32Array(count), label: new Int32Array(count), kind: new Uint8Array(count),
		place: (_, node) => node};
	tree.label[0] = -1;
	for (let i = 1; i < count; i++) {
		tree.parent[i] = graph.nodes[i * 3 - 3];
		tree.label[i] = graph.nodes[i * 3 - 2];
		tree.kind[i] = graph.nodes[i * 3 - 1];
	}
	return tree;
}

/* A node's child with a label, as one number. */
function childKey(up, label) {
	return up * 0x8000000 + label;
}

/* Weights per node, of the threads for whose numbers `chosen` has a true value. */
function weigh(recorded, samples, chosen) {
	const self = new Float64Array(recorded.count);
	for (let i = 0; i < samples.length; i += 3)
		if (chosen[samples[i]])
			self[recorded.place(samples[i], samples[i + 1])] += samples[i + 2];
	return self;
}

/*
 * The recorded tree with weights. `was` has those of the recording that it is compared with, or is null. Children stay in
 * the order of their numbers.
 */
function weighed(recorded, self, was) {
	const n = recorded.count, add = column => {
		const total = column && Float64Array.from(column);
		for (let i = n - 1; i > 0 && total; i--)
			total[recorded.parent[i]] += total[i];
		return total;
	};
	const tree = {...recorded, self, selfWas: was, total: add(self), was: add(was), first: new Int32Array(n).fill(-1), next: new Int32Array(n).fill(-1)};
	for (let i = n - 1; i > 0; i--) {
		const up = tree.parent[i];
		tree.next[i] = tree.first[up];
		tree.first[up] = i;
	}
	tree.expand = () => {};
	return tree;
}

/*
 * A tree whose nodes are made when somebody looks at them: expand(i) makes the children of node i. A node knows the
 * recorded nodes that it consists of, and the weights of each. `step` calls emit(node, weight, was) for each recorded node
 * one step further; those with one label are one child. `own` says how much of a node's weight ends there.
 */
function growing(recorded, starts, {step, own}) {
	const twice = starts.was !== null, tree = {
		count: 1, labels: recorded.labels, parent: [0], label: [-1], kind: [0], self: [0], total: [0], selfWas: twice ? [0] : null, was: twice ? [0] : null,
		first: [-1], next: [-1],
	};
	/* what unexpanded nodes consist of: siblings share arrays, each has a part of them */
	const made = [null], from = [0], until = [0], slot = new Int32Array(recorded.count);
	/* by label, while children are added */
	const sizes = new Int32Array(recorded.labels.length), children = new Int32Array(recorded.labels.length);

	function append(up, label, of, at) {
		const child = tree.count++;
		tree.kind.push(0);
		tree.self.push(0);
		tree.total.push(0);
		if (twice) {
			tree.selfWas.push(0);
			tree.was.push(0);
		}
		tree.parent.push(up);
		tree.label.push(label);
		tree.first.push(-1);
		tree.next.push(tree.first[up]);
		tree.first[up] = child;
		made.push(of);
		from.push(at);
		until.push(at);
		return child;
	}

	function weigh(child, node, weight, was) {
		tree.total[child] += weight;
		tree.self[child] += own(node, weight, recorded.self);
		if (twice) {
			tree.was[child] += was;
			tree.selfWas[child] += own(node, was, recorded.selfWas);
		}
	}

	/* Adds the children of `up`, which consist of the nodes of `list`: by label, in the order of labels. */
	function add(up, list) {
		const seen = [], count = list.nodes.length;
		for (const node of list.nodes)
			if (sizes[recorded.label[node]]++ === 0)
				seen.push(recorded.label[node]);
		const of = {nodes: new Int32Array(count), weights: new Float64Array(count), was: twice ? new Float64Array(count) : null};
		let at = 0;
		for (const label of Int32Array.from(seen).sort().reverse()) {
			children[label] = append(up, label, of, at);
			at += sizes[label];
			sizes[label] = 0;
		}
		for (let k = 0; k < count; k++) {
			const node = list.nodes[k], child = children[recorded.label[node]], place = until[child]++;
			if (place === from[child])
				tree.kind[child] = recorded.kind[node];
			of.nodes[place] = node;
			of.weights[place] = list.weights[k];
			if (twice)
				of.was[place] = list.was[k];
			weigh(child, node, list.weights[k], twice ? list.was[k] : 0);
		}
	}

	tree.expand = i => {
		const of = made[i], list = {nodes: [], weights: [], was: []};
		if (of === null)
			return;
		made[i] = null;
		const emit = (node, weight, was) => {
			if (slot[node] === 0) {
				slot[node] = list.nodes.push(node);
				list.weights.push(0);
				list.was.push(0);
			}
			list.weights[slot[node] - 1] += weight;
			list.was[slot[node] - 1] += was;
		};
		for (let k = from[i]; k < until[i]; k++)
			step(of.nodes[k], of.weights[k], twice ? of.was[k] : 0, emit);
		for (const node of list.nodes)
			slot[node] = 0;
		add(i, list);
	};

	for (let k = 0; k < starts.nodes.length; k++) {
		tree.total[0] += starts.weights[k];
		if (twice)
			tree.was[0] += starts.was[k];
	}
	add(0, starts);
	return tree;
}

/* The nodes whose weights are not 0 in one of two columns. */
function startsOf(recorded, self, was) {
	const starts = {nodes: [], weights: [], was: was && []};
	for (let i = 1; i < recorded.count; i++)
		if (self[i] || (was && was[i])) {
			starts.nodes.push(i);
			starts.weights.push(self[i]);
			if (was)
				starts.was.push(was[i]);
		}
	return starts;
}

/* The same stacks from the leaf: callers are on top of what they call. A frame without a caller ends a stack. */
function reversed(recorded, self, was = null) {
	return growing(recorded, startsOf(recorded, self, was), {
		step(node, weight, before, emit) {
			if (recorded.parent[node] !== 0)
				emit(recorded.parent[node], weight, before);
		},
		own: (node, weight) => recorded.parent[node] === 0 ? weight : 0,
	});
}

/* What the given nodes of a tree with weights call, all that have one label together. */
function calledBy(tree, nodes) {
	const starts = {nodes, weights: nodes.map(i => tree.total[i]), was: tree.was && nodes.map(i => tree.was[i])};
	return growing(tree, starts, {
		step(node, weight, before, emit) {
			for (let c = tree.first[node]; c >= 0; c = tree.next[c])
				if (tree.total[c] || (tree.was && tree.was[c]))
					emit(c, tree.total[c], tree.was ? tree.was[c] : 0);
		},
		own: (node, weight, column) => column[node],
	});
}

/* The nodes with a label that are not below another one of them: of a recursion, the first call. */
function outermost(recorded, label) {
	const inside = new Uint8Array(recorded.count), found = [];
	for (let i = 1; i < recorded.count; i++) {
		inside[i] = inside[recorded.parent[i]];
		if (!inside[i] && recorded.label[i] === label) {
			inside[i] = 1;
			found.push(i);
		}
	}
	return found;
}

/* Self and total of each label; a stack in which it is several times counts once. */
function sumsByLabel(tree, count) {
	const self = new Float64Array(count), total = new Float64Array(count), open = new Int32Array(count);
	const selfWas = tree.was && new Float64Array(count), was = tree.was && new Float64Array(count);
	for (let i = tree.first[0]; i > 0;) {
		const label = tree.label[i];
		self[label] += tree.self[i];
		if (selfWas)
			selfWas[label] += tree.selfWas[i];
		if (open[label]++ === 0) {
			total[label] += tree.total[i];
			if (was)
				was[label] += tree.was[i];
		}
		if (tree.first[i] >= 0) {
			i = tree.first[i];
			continue;
		}
		while (i > 0 && tree.next[i] < 0) {
			open[tree.label[i]]--;
			i = tree.parent[i];
		}
		if (i > 0) {
			open[tree.label[i]]--;
			i = tree.next[i];
		}
	}
	return {self, total, selfWas, was};
}

/* The weights of the stacks to which a node of a tree that is shown belongs; `backwards`: it is a reversed one. */
function weightsUnder(recorded, self, tree, node, backwards) {
	const path = [], part = new Float64Array(recorded.count), inside = new Uint8Array(recorded.count);
	for (let i = node; i; i = tree.parent[i])
		path.unshift(tree.label[i]);
	inside[node] = 1;
	for (let i = 1; i < recorded.count; i++) {
		if (backwards && self[i]) {
			let depth = 0;
			for (let up = i; up && depth < path.length && recorded.label[up] === path[depth]; up = recorded.parent[up])
				depth++;
			part[i] = depth === path.length ? self[i] : 0;
		} else if (!backwards) {
			inside[i] = inside[i] || inside[recorded.parent[i]];
			part[i] = inside[i] ? self[i] : 0;
		}
	}
	return part;
}

/*
 * The nodes that are at least `least` wide when `zoom` is 1: rows[depth] holds node, left and width in a flat list. The
 * first rows are the ancestors of `zoom`. `wide` is the column that says how wide they are.
 */
function layOut(tree, zoom, least, wide = tree.total) {
	const full = wide[zoom], rows = [];
	if (!(full > 0))
		return {rows, above: 0};
	for (let i = zoom; i; i = tree.parent[i])
		rows.unshift([tree.parent[i], 0, 1]);
	const above = rows.length, stack = [[zoom, above, 0]];
	while (stack.length) {
		const [i, depth, left] = stack.pop();
		(rows[depth] ||= []).push(i, left, wide[i] / full);
		tree.expand(i);
		let x = left;
		for (let c = tree.first[i]; c >= 0; c = tree.next[c]) {
			const width = wide[c] / full;
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
