/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ---- two recordings ----
 * The page has a graph of each. They become one, whose nodes have the weights of both. Weights are compared as shares of
 * their recordings; `factor` makes what has not changed the same on both sides.
 */
const COMPARED = data.compared || null;
/* Below this many standard errors, a change of one frame is not coloured; above the second number, it is as it is. */
const FAINT = [1, 3];

/* One graph of two: labels by name, nodes by label. */
function joined(before, after) {
	const labels = [...after.labels], number = new Map(labels.map((text, l) => [text, l]));
	const theirs = before.labels.map(text => {
		if (!number.has(text))
			number.set(text, labels.push(text) - 1);
		return number.get(text);
	});
	const nodes = [...after.nodes], children = new Map(), of = new Int32Array(before.nodes.length / 3 + 1);
	for (let i = 0; i < nodes.length; i += 3)
		children.set(childKey(nodes[i], nodes[i + 1]), i / 3 + 1);
	for (let i = 0; i < before.nodes.length; i += 3) {
		const up = of[before.nodes[i]], label = theirs[before.nodes[i + 1]], key = childKey(up, label), known = children.get(key);
		of[i / 3 + 1] = known ?? nodes.push(up, label, before.nodes[i + 2]) / 3;
		children.set(key, of[i / 3 + 1]);
	}
	const then = before.samples.map((value, k) => k % 3 === 0 ? 0 : k % 3 === 1 ? of[value] : value);
	return {...after, labels, nodes, samples: after.samples.map((value, k) => k % 3 === 0 ? 0 : value), before: then};
}

if (COMPARED) {
	data.threads = [{pid: 0, tid: 0, java: false, name: "", process: "", known_us: 0, began: true}];
	data.graphs = [joined(data.graphs[0], data.graphs[1])];
	data.timeline = {from_us: 0, to_us: 1, left_out: 0, kinds: {}, spans: [], names: []};
}

/* A weight as a share of its recording; after: made comparable. */
function partOf(weight, side) {
	const total = COMPARED[side].total;
	return total ? weight / total * (side === "after" ? COMPARED.factor : 1) : 0;
}

/* -1 to 1: how much of the larger share is gone or new, less so if samples are too few to tell. */
function changeOf(was, is) {
	const before = partOf(was, "before"), after = partOf(is, "after"), larger = Math.max(before, after);
	if (larger === 0)
		return 0;
	const error = Math.hypot(deviation(was, "before"), deviation(is, "after")), sure = (Math.abs(after - before) / error - FAINT[0]) / (FAINT[1] - FAINT[0]);
	return (after - before) / larger * Math.max(0, Math.min(1, sure));
}

/* The standard error of a share, as that of a count. An event represents `each` of the weight. */
function deviation(weight, side) {
	const {total, each} = COMPARED[side];
	return partOf(Math.sqrt(Math.max(weight, each) * each), side) || 1 / Math.max(1, total);
}

/* "12.00 % -> 15.00 %, +25.0 %"; short: only the change. */
function changeText(was, is, short = false) {
	const before = partOf(was, "before"), after = partOf(is, "after");
	const points = (after < before ? "\u2212" : "+") + Math.abs(100 * (after - before)).toFixed(2) + " %";
	if (short)
		return points;
	const relative = was === 0 ? "new" : is === 0 ? "gone" : (after < before ? "\u2212" : "+") + Math.abs(100 * (after / before - 1)).toFixed(1) + " %";
	return share(before, 1) + " \u2192 " + share(after, 1) + (was === 0 && is === 0 ? "" : " (" + relative + ")");
}

function changeInk(was, is) {
	return changeOf(was, is) > 0 ? "var(--more)" : changeOf(was, is) < 0 ? "var(--less)" : "var(--muted)";
}

const CHANCES = new Map(COMPARED ? COMPARED.rows.map(row => [row.method, row]) : []);

/* The chance that a method's difference is one by chance; of the very light ones braid computes none. */
function chanceOf(name) {
	return CHANCES.has(name) ? CHANCES.get(name).chance : 1;
}

function chanceText(name) {
	const row = CHANCES.get(name);
	return !row ? "" : (row.chance <= COMPARED.level ? "\u25cf " : "") + (row.chance < 0.0015 ? "\u2264 0.1 %" : (100 * row.chance).toFixed(1) + " %");
}
