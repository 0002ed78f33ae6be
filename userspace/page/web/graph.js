/* SPDX-License-Identifier: Apache-2.0 */
const $ = id => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const ROW = 18, MIN_WIDTH = 0.4, FONT = '11.5px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';

/* fill in the light and in the dark theme, by kind */
const COLOURS = {
	"kernel": ["#f2a65e", "#94561a"], "native": ["#f0d46a", "#7d6816"], "stub": ["#d9c9a3", "#665b40"],
	"interpreted": ["#c3aee6", "#61478c"], "C1": ["#9fd6c4", "#2f6f5d"], "C2": ["#8ccb74", "#3b7028"],
	"compiled": ["#b5d99c", "#4c6b38"], "inlined": ["#8fc7e8", "#27617f"],
	"class": ["#e8a0a8", "#8a3d48"], "incomplete": ["#c9ccd1", "#5a6069"],
};
const MATCH = ["#e85aa8", "#c2297c"];
/* for what single threads wait for, and for what all of them wait for */
const WAITS = {
	"Contended monitors": ["#d9534f", "#c9433f"], "Object.wait": ["#5b8def", "#4a79d6"], "Off-CPU time": ["#b9c0c9", "#5d6672"],
	"GC pauses": ["#9b59b6", "#b07cc6"], "Safepoints": ["#d957a8", "#e985c0"], "Compilations": ["#3d6fb5", "#8fb4ea"],
};

/* ---- state ---- */
const state = {process: "", thread: "", icicle: false, reverse: false, view: "graph", graph: 0, range: null, zoom: 0, hover: -1};

/* ---- the graph that is shown, its tree as it was recorded, and the weights of the chosen threads ---- */
let graph, recorded, weights;

function choose(number) {
	graph = data.graphs[number];
	recorded = recordedTree(graph);
	state.graph = number;
	$("facts").textContent = [amount(graph.total), graph.name,
		share(graph.complete, graph.total) + " of the stacks complete", data.duration_s.toFixed(1) + " s"].join(", ");
}

const canvas = $("canvas"), view = $("view"), context = canvas.getContext("2d");
let tree, paneWidth = 1, rows = [], above = 0, matchedLabel = null, height = 0;

function dark() {
	const chosen = document.documentElement.dataset.theme;
	return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function nameOf(i) {
	return i === 0 ? "all" : graph.labels[tree.label[i]];
}

function wanted(thread) {
	return (state.process === "" || String(thread.pid) === state.process) &&
		(state.thread === "" || data.threads[+state.thread] === thread);
}

function rebuild() {
	if (state.view !== "graph") {
		layout();
		return;
	}
	const chosen = data.threads.map(wanted);
	weights = state.range ? weighPart(recorded, graph, chosen, state.range) : weigh(recorded, graph.samples, chosen);
	tree = state.reverse ? reversed(recorded, weights) : weighed(recorded, weights);
	state.zoom = 0;
	state.hover = -1;
	legend();
	layout();
}

/* What a flame graph of a part of the time leaves out. */
function partNote() {
	if (!state.range)
		return "";
	if (!graph.times)
		return "this page has no times of " + graph.name;
	return graph.times.step > 1 ? "of the times of " + graph.name + ", the page has a part: sums are estimates" : "";
}

let planned = 0;

/* Draws once, before the browser's next frame. */
function redraw() {
	if (typeof requestAnimationFrame !== "function")
		draw();
	else if (!planned)
		planned = requestAnimationFrame(() => {
			planned = 0;
			draw();
		});
}

/* The position of each visible frame: rows[depth] holds node, left, width in a flat list; fractions of the width. */
function layout() {
	if (state.view !== "graph") {
		state.view === "heat" ? layHeat() : lay();
		return;
	}
	note("limits", partNote());
	note("keys", "");
	({rows, above} = layOut(tree, state.zoom, MIN_WIDTH / Math.max(1, view.clientWidth)));
	$("empty").hidden = tree.total[0] > 0;
	height = rows.length * ROW;
	canvas.style.height = view.clientHeight + "px";
	$("spacer").style.height = Math.max(0, height - view.clientHeight) + "px";
	view.scrollTop = state.icicle ? 0 : height;
	$("reset").disabled = state.zoom === 0;
	search();
	draw();
}

function top(depth) {
	const shown = Math.max(height, view.clientHeight);
	return (state.icicle ? depth * ROW : shown - (depth + 1) * ROW) - view.scrollTop;
}

function fit(text, width) {
	if (context.measureText(text).width <= width)
		return text;
	let low = 0, high = text.length;
	while (low < high) {
		const middle = (low + high + 1) >> 1;
		if (context.measureText(text.slice(0, middle) + "\u2026").width <= width)
			low = middle;
		else
			high = middle - 1;
	}
	return low > 2 ? text.slice(0, low) + "\u2026" : "";
}

/* Clears the canvas and gives it the view's size. */
function clean() {
	const ratio = devicePixelRatio || 1, w = view.clientWidth, h = view.clientHeight;
	paneWidth = w; /* the browser takes long to say it again and again */
	if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
		canvas.width = Math.round(w * ratio);
		canvas.height = Math.round(h * ratio);
	}
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.clearRect(0, 0, w, h);
	context.font = FONT;
	context.textBaseline = "middle";
}

function draw() {
	if (state.view !== "graph") {
		state.view === "heat" ? drawHeat() : drawTimeline();
		return;
	}
	const w = view.clientWidth, h = view.clientHeight, theme = dark() ? 1 : 0;
	const style = getComputedStyle(document.documentElement);
	const ink = style.getPropertyValue("--ink").trim();
	clean();
	rows.forEach((row, depth) => {
		const y = top(depth);
		if (y > h || y + ROW < 0)
			return;
		for (let k = 0; k < row.length; k += 3) {
			const i = row[k], x = row[k + 1] * w, width = row[k + 2] * w;
			const matched = i && matchedLabel && matchedLabel[tree.label[i]];
			context.globalAlpha = depth < above ? 0.5 : 1;
			context.fillStyle = matched ? MATCH[theme] : i ? COLOURS[data.kinds[tree.kind[i]]][theme] : style.getPropertyValue("--line");
			context.fillRect(x, y, Math.max(width - (width > 2 ? 1 : 0), 0.3), ROW - 1);
			if (i === state.hover) {
				context.globalAlpha = 1;
				context.strokeStyle = ink;
				context.strokeRect(x + 0.5, y + 0.5, Math.max(width - 2, 1), ROW - 2);
			}
			if (width > 24) {
				context.fillStyle = ink;
				context.fillText(fit(nameOf(i), width - 7), x + 3, y + ROW / 2);
			}
		}
	});
	context.globalAlpha = 1;
}
