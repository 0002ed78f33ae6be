/* SPDX-License-Identifier: Apache-2.0 */
/* ---- the page's data, what is chosen, and the stacks that follow from both ---- */
const $ = id => document.getElementById(id);
let data = joinLabels(JSON.parse($("data").textContent)); /* a recording that grows has newer ones: live.js */

const state = {
	view: "graph", graph: 0, process: "", thread: "", range: null, hidden: new Set(), /* kinds of code */
	icicle: false, reverse: false, plumbing: true, recursion: false, threads: false, method: "", sort: "self", by: "after", last: "", explain: "",
};
const VIEWS = {graph: "flames", methods: "methods", timeline: "timeline", heat: "heat", explain: "explain", recording: "recording"};

/* The graph, its tree as it was recorded and as it is shown, and the weights of what is chosen, on both. */
let graph, whole, recorded, weights;

function choose(number) {
	graph = data.graphs[number];
	graph.named ??= graph.labels.length; /* further ones are the page's own */
	whole = recordedTree(graph);
	state.graph = number;
	$(VIEWS.methods).hidden = Boolean(graph.chains); /* half of its stacks are upside down */
	shape();
}

/* Makes the tree that is shown. */
function shape() {
	recorded = state.plumbing || state.recursion ? folded(whole, graph, state) : whole;
	if (state.threads)
		recorded = byThread(recorded, graph, laneName);
}

function wanted(thread) {
	return (state.process === "" || String(thread.pid) === state.process) &&
		(state.thread === "" || data.threads[+state.thread] === thread);
}

/* The weights of the chosen threads, time and kinds on a tree: self, and was if recordings are compared. */
function weightsOn(tree) {
	const chosen = data.threads.map(wanted);
	const made = {self: state.range ? weighPart(tree, graph, chosen, state.range) : weigh(tree, graph.samples, chosen), was: null};
	if (graph.before)
		made.was = weigh(tree, graph.before, chosen);
	for (let i = 1; i < tree.count && state.hidden.size; i++)
		if (state.hidden.has(tree.kind[i])) {
			made.self[i] = 0;
			if (made.was)
				made.was[i] = 0;
		}
	return made;
}

function laneName(thread) {
	const t = data.threads[thread];
	return t.name + " (" + t.tid + ")";
}

/* Asked for once: each frame and each cell asks for its colour. */
const PREFERS_DARK = matchMedia("(prefers-color-scheme: dark)");

function dark() {
	const chosen = document.documentElement.dataset.theme;
	return chosen ? chosen === "dark" : PREFERS_DARK.matches;
}

/* ---- numbers for people ---- */
function share(part, whole) {
	return (whole ? 100 * part / whole : 0).toFixed(2) + " %";
}

function scaled(n, step, units) {
	let i = 0;
	for (; n >= step && i + 1 < units.length; i++)
		n /= step;
	return (i ? n.toFixed(2) : n.toLocaleString("en", {maximumFractionDigits: 0})) + " " + units[i];
}

function amountOf(n, unit) {
	if (unit === "ns")
		return scaled(n, 1000, ["ns", "\u00b5s", "ms", "s"]);
	if (unit === "bytes")
		return scaled(n, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
	return n.toLocaleString("en", {maximumFractionDigits: 0}) + " " + (n === 1 ? unit.slice(0, -1) : unit);
}

/* A weight in the graph's unit. */
function amount(n) {
	return amountOf(n, graph.unit);
}

function countText(n, what) {
	return n.toLocaleString("en") + " " + what + (n === 1 ? "" : "s");
}

function lengthText(us) {
	return us < 1000 ? us.toFixed(us < 10 ? 1 : 0) + " \u00b5s" : us < 1e6 ? (us / 1000).toFixed(3) + " ms" : (us / 1e6).toFixed(6) + " s";
}

function exactTime(us) {
	return (us / 1e6).toFixed(6) + " s";
}

/* ---- elements ---- */
function element(name, text, of) {
	const made = document.createElement(name);
	made.textContent = text;
	of.append(made);
	return made;
}

/* Titles with their texts; what has no text is left out. */
function pairs(box, list) {
	const dl = element("dl", "", box);
	for (const [title, text] of list)
		if (text !== "") {
			element("dt", title, dl);
			element("dd", text, dl);
		}
}

/* A share as a number and as a bar behind it. */
function barCell(cell, part, whole, title) {
	cell.className = "number bar-cell";
	cell.textContent = share(part, whole);
	cell.title = title;
	cell.style.backgroundSize = (whole ? 100 * part / whole : 0).toFixed(2) + "% 100%";
}

function note(id, text) {
	$(id).textContent = text;
	$(id).hidden = text === "";
}

function pressed(id, on) {
	$(id).setAttribute("aria-pressed", String(Boolean(on)));
}
