/* SPDX-License-Identifier: Apache-2.0 */
/* ---- columns of numbers, as page/pack.c packs them: varints in base64 ---- */
function unpack(text) {
	const raw = atob(text), bytes = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++)
		bytes[i] = raw.charCodeAt(i);
	return {bytes, at: 0};
}

function more(packed) {
	return packed.at < packed.bytes.length;
}

function take(packed) {
	let value = 0, scale = 1, byte;
	do {
		byte = packed.bytes[packed.at++];
		value += (byte & 127) * scale;
		scale *= 128;
	} while (byte > 127);
	return value;
}

/* The labels of all stacks, of which page/page.c writes only how they differ from the one before. */
function joinLabels(from) {
	for (const {labels, shared} of [...from.graphs, from.lanes?.stacks ?? {}, from.explain?.stacks ?? {}])
		for (let i = 1; shared && i < labels.length; i++)
			labels[i] = labels[i - 1].slice(0, shared[i]) + labels[i];
	return from;
}

/* The events of a graph in the order of their times, in us; made once. */
function timesOf(graph) {
	if (!graph.times || graph.times.at)
		return graph.times;
	const packed = unpack(graph.times.packed), count = graph.times.count;
	const t = Object.assign(graph.times, {
		at: new Float64Array(count), thread: new Int32Array(count), node: new Int32Array(count), weight: new Float64Array(count),
		packed: null, longest: 0,
	});
	for (let i = 0, us = 0; i < count; i++) {
		us += take(packed);
		t.at[i] = us;
		t.thread[i] = take(packed);
		t.node[i] = take(packed);
		t.weight[i] = take(packed);
		t.longest = Math.max(t.longest, t.weight[i]);
	}
	return t;
}

/* The first index at which `list` is at least `value`. */
function firstAt(list, value) {
	let low = 0, high = list.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (list[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Weights per node, of the chosen threads' events in a part of the time. Of an event that lasts, the part inside
 * counts.
 */
function weighPart(tree, graph, chosen, range) {
	const self = new Float64Array(tree.count), t = timesOf(graph), lasts = graph.unit === "ns";
	if (!t)
		return self;
	for (let i = firstAt(t.at, range[0] - (lasts ? t.longest / 1000 : 0)); i < t.at.length && t.at[i] < range[1]; i++) {
		if (!chosen[t.thread[i]])
			continue;
		const until = Math.min(t.at[i] + t.weight[i] / 1000, range[1]), inside = until - Math.max(t.at[i], range[0]);
		const weight = !lasts ? t.weight[i] : inside > 0 ? Math.min(t.weight[i], Math.round(inside * 1000)) : 0;
		if (weight)
			self[tree.place(t.thread[i], t.node[i])] += weight;
	}
	return self;
}
