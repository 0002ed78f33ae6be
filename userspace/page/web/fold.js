/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trees that are made of a recorded one: with less in it that everybody knows, and by thread. Their place(thread,
 * node) is the number here of a recorded node. Parents come before their children.
 */

/*
 * Frames that every thread begins with, before those that its program's author knows. Most of the C library's have no names
 * without its debug symbols.
 */
const PLUMBING = new RegExp("^(\\[(libc\\.so|ld-musl)[^\\]]*\\]|_*clone3?|start_thread|_start|__libc_start_main|__libc_start_call_main|main|thread_native_entry|java_start|JavaMain|" +
	"ThreadJavaMain|call_stub|thread_entry|jni_CallStaticVoidMethod|jni_invoke_static|JavaCalls::\\w+|Thread::call_run|" +
	"JavaThread::(run|thread_main_inner)|os::os_exception_wrapper|[\\w:]*[wW]orkerThread::run|GangWorker::run|StubRoutines.*)(\\(.*|\\[.*|$)");
/* This many calls may lie between a frame and the same frame below it that are one. */
const CYCLE = 24;

/* The number of a text among the labels of a graph, which gets it if it has none yet. */
function labelFor(graph, text) {
	graph.more ||= new Map();
	if (!graph.more.has(text))
		graph.more.set(text, graph.labels.push(text) - 1);
	return graph.more.get(text);
}

/* Columns of a tree that grows, with at most `most` nodes beside the root. */
function columns(graph, most) {
	const tree = {count: 1, labels: graph.labels, parent: new Int32Array(most + 1), label: new Int32Array(most + 1), kind: new Uint8Array(most + 1)};
	const first = new Int32Array(most + 1), next = new Int32Array(most + 1), shared = new Uint8Array(most + 1), index = new Map();
	tree.label[0] = -1;
	return {
		tree,
		/* From now on several recorded nodes are this one, so that its children have to be looked for. */
		share(up) {
			for (let c = shared[up] ? 0 : first[up]; c; c = next[c])
				index.set(childKey(up, tree.label[c]), c);
			shared[up] = 1;
		},
		child(up, label, kind) {
			const known = shared[up] ? index.get(childKey(up, label)) : undefined;
			if (known !== undefined) {
				this.share(known);
				return known;
			}
			const i = tree.count++;
			tree.parent[i] = up;
			tree.label[i] = label;
			tree.kind[i] = kind;
			next[i] = first[up];
			first[up] = i;
			if (shared[up])
				index.set(childKey(up, label), i);
			return i;
		},
	};
}

/* Which nodes have weights of their own. */
function usedNodes(graph, count) {
	const used = new Uint8Array(count);
	for (const samples of [graph.samples, graph.before || []])
		for (let i = 1; i < samples.length; i += 3)
			used[samples[i]] = 1;
	return used;
}

/*
 * `plumbing`: what starts a thread is one frame, if it is at least three. `recursion`: a frame that is called by itself,
 * directly or through others, is that frame, and what it calls is called by that one.
 */
function folded(whole, graph, {plumbing, recursion}) {
	const out = columns(graph, whole.count), tree = out.tree, of = new Int32Array(whole.count);
	const used = usedNodes(graph, whole.count), depth = new Int32Array(whole.count), plain = new Map();

	function isPlumbing(label) {
		if (!plain.has(label))
			plain.set(label, PLUMBING.test(graph.labels[label]));
		return plain.get(label);
	}
	/* Where the children of a node belong. The frames of a thread's start are made when something hangs on them. */
	function place(i) {
		if (of[i] || i === 0)
			return of[i];
		const path = [];
		for (let up = i; up; up = whole.parent[up])
			path.unshift(up);
		const text = graph.labels[whole.label[path[0]]] + " \u2026 " + graph.labels[whole.label[i]];
		if (path.length > 2)
			return of[i] = out.child(0, labelFor(graph, text), whole.kind[i]);
		return of[i] = path.reduce((up, node) => out.child(up, whole.label[node], whole.kind[node]), 0);
	}
	function caller(up, label) {
		for (let k = 0; up && k < CYCLE; up = tree.parent[up], k++)
			if (tree.label[up] === label)
				return up;
		return 0;
	}

	out.share(0);
	for (let i = 1; i < whole.count; i++) {
		const up = whole.parent[i], label = whole.label[i];
		if (plumbing && (up === 0 || depth[up]) && isPlumbing(label)) {
			depth[i] = up === 0 ? 1 : depth[up] + 1;
			if (used[i])
				place(i);
			continue;
		}
		const above = place(up), same = recursion ? caller(above, label) : 0;
		of[i] = same || out.child(above, label, whole.kind[i]);
		if (same)
			out.share(same);
	}
	tree.place = (_, node) => of[node];
	return tree;
}

/* Each thread has a frame of its own, below all others. */
function byThread(recorded, graph, nameOf) {
	const numbers = new Map(), cells = [graph.samples, graph.before || []], nodes = [], key = (thread, node) => thread * recorded.count + node;

	function add(thread, node) {
		const path = [];
		for (let i = node; !numbers.has(key(thread, i)); i = recorded.parent[i]) {
			path.push(i);
			if (i === 0)
				break;
		}
		for (const i of path.reverse())
			numbers.set(key(thread, i), i === 0 ? nodes.push(0, labelFor(graph, nameOf(thread)), -1) / 3 :
				nodes.push(numbers.get(key(thread, recorded.parent[i])), recorded.label[i], recorded.kind[i]) / 3);
	}

	for (const samples of cells)
		for (let i = 0; i < samples.length; i += 3)
			add(samples[i], recorded.place(samples[i], samples[i + 1]));
	const tree = recordedTree({labels: graph.labels, nodes});
	tree.place = (thread, node) => numbers.get(key(thread, recorded.place(thread, node)));
	return tree;
}
