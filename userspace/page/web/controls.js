/* SPDX-License-Identifier: Apache-2.0 */
/* ---- what is drawn, and when ---- */
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

function draw() {
	if (state.view === "graph")
		drawFlame(flame);
	else if (state.view === "heat")
		drawHeat();
	else if (state.view === "timeline")
		drawTimeline();
	else if (state.view === "methods" && callers.tree)
		[callers, callees].forEach(drawFlame);
}

/* The weights follow what is chosen; `path`: the labels of what is zoomed to. */
function rebuild(path = []) {
	if (active)
		selectFrame(active, -1);
	if (state.view === "graph") {
		weights = weightsOn(recorded);
		flame.tree = state.reverse ? reversed(recorded, weights.self, weights.was) : weighed(recorded, weights.self, weights.was);
		flame.reverse = state.reverse;
		flame.zoom = nodeOf(flame.tree, path);
		flame.hover = flame.focus = -1;
	}
	layout();
}

function layout() {
	if (state.view === "graph") {
		flame.icicle = state.icicle;
		note("limits", partNote());
		note("keys", "Arrows: select \u00b7 Enter: zoom \u00b7 Backspace: out \u00b7 c: copy \u00b7 ?: all keys");
		$("empty").hidden = flame.tree.total[0] > 0 || Boolean(flame.tree.was && flame.tree.was[0] > 0);
		summarise();
		layFlame(flame);
	} else if (state.view === "methods") {
		note("limits", partNote());
		note("keys", "Arrows: next method \u00b7 ?: all keys");
		$("legend").replaceChildren();
		layMethods();
		search();
	} else if (state.view === "explain") {
		note("limits", "");
		note("keys", "Up and down: another one \u00b7 ?: all keys");
		$("legend").replaceChildren();
		layExplain();
	} else if (state.view === "recording") {
		for (const id of ["limits", "keys"])
			note(id, "");
		$("legend").replaceChildren();
	} else {
		state.view === "heat" ? layHeat() : lay();
	}
}

/* What a flame graph of a part of the time leaves out. */
function partNote() {
	if (!state.range)
		return graph.chains ? "Upwards: what was blocked, for what, and after -- who ended that, the innermost frame first. Without idle threads" : "";
	if (!graph.times)
		return "this page has no times of " + graph.name;
	return graph.times.step > 1 ? "of the times of " + graph.name + ", the page has a part: sums are estimates" : "";
}

/* ---- the search, and sums of what is zoomed to ---- */

/* Finds the labels that match; says so if the text is no regular expression. */
function match() {
	const text = $("search").value, out = $("matched");
	matchedLabel = null;
	out.textContent = "";
	out.classList.remove("bad");
	$("search").classList.remove("bad");
	if (text === "")
		return;
	try {
		const regex = new RegExp(text, "i");
		matchedLabel = graph.labels.map(label => regex.test(label));
	} catch (error) {
		out.textContent = "not a regular expression";
		out.classList.add("bad");
		$("search").classList.add("bad");
	}
}

/* What matches, and how much that is. */
function search() {
	const out = $("matched");
	match();
	if (!matchedLabel)
		return;
	if (state.view === "graph") {
		const under = partUnder(), names = new Set(recorded.label.filter((label, i) => i && matchedLabel[label]));
		out.textContent = names.size.toLocaleString("en") + (names.size === 1 ? " name, " : " names, ") + share(weightOf(recorded, under, matchedLabel), wideOf(flame.tree)[flame.zoom]);
	} else if (state.view === "methods") {
		out.textContent = matchedLabel.slice(0, graph.named).filter(Boolean).length.toLocaleString("en") + " names";
	}
}

/* The weights of what is zoomed to. */
function partUnder() {
	const self = flame.tree.was && state.by === "before" ? weights.was : weights.self;
	return flame.zoom ? weightsUnder(recorded, self, flame.tree, flame.zoom, state.reverse) : self;
}

function summarise() {
	$("reset").disabled = flame.zoom === 0;
	search();
	flame.tree.was ? changeLegend() : legend();
}

function searched() {
	if (state.view === "methods") {
		search();
		layMethods();
	} else if (state.view === "graph") {
		summarise();
		drawFlame(flame);
	}
	changed(false);
}

/* ---- legends ---- */
function legendItem(colour, text, name = "span") {
	const item = document.createElement(name), swatch = document.createElement("i");
	item.className = "kind";
	swatch.style.background = colour;
	item.append(swatch, text);
	$("legend").append(item);
	return item;
}

/* The kinds of code of this graph, with their shares; each can be left out. */
function legend() {
	const under = partUnder(), sums = new Float64Array(data.kinds.length), seen = new Uint8Array(sums.length);
	let all = 0;
	for (let i = 1; i < recorded.count; i++) {
		seen[recorded.kind[i]] = 1;
		sums[recorded.kind[i]] += under[i];
		all += under[i];
	}
	$("legend").replaceChildren();
	/* Kinds that no frame of this graph has belong to other graphs or other programs, so they get no zero. */
	data.kinds.forEach((kind, k) => {
		if (!seen[k])
			return;
		if (graph.chains) {
			/* each of its stacks ends with a name */
			legendItem(kindColour(k), kind === "class" ? "what was waited for, and who ended that" : kind);
			return;
		}
		const item = legendItem(kindColour(k), state.hidden.has(k) ? kind + ", left out" : kind + " " + share(sums[k], all), "button");
		item.setAttribute("aria-pressed", String(!state.hidden.has(k)));
		item.title = "The share of the weight whose innermost frame is of this kind. Click to leave these stacks out.";
		item.addEventListener("click", () => {
			state.hidden.has(k) ? state.hidden.delete(k) : state.hidden.add(k);
			rebuild();
			changed(true);
		});
	});
}

function changeLegend() {
	$("legend").replaceChildren();
	for (const [change, text] of [[-1, "less than before"], [0, "the same, or too few samples to tell"], [1, "more than before"]])
		legendItem(changeColour(change), text);
}

function themed() {
	pressed("theme", dark());
	layout();
}

/* ---- tips ---- */
function showTip(title, texts, event) {
	const box = $("tip");
	$("tip-name").textContent = title;
	$("tip-rows").replaceChildren();
	for (const text of texts.filter(text => text !== ""))
		element("span", text, $("tip-rows"));
	box.hidden = false;
	const size = box.getBoundingClientRect();
	box.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - size.width - 4)) + "px";
	box.style.top = Math.max(4, event.clientY + 18 + size.height > innerHeight ? event.clientY - size.height - 10 : event.clientY + 18) + "px";
}

function untip() {
	$("tip").hidden = true;
	if (flame.hover >= 0 || cursor !== null) {
		flame.hover = -1;
		cursor = null;
		redraw();
	}
}

/* ---- what can be chosen ---- */
function option(select, value, text) {
	const o = document.createElement("option");
	o.value = value;
	o.textContent = text;
	select.append(o);
}

function fillProcesses() {
	const pids = new Map();
	$("process").replaceChildren();
	for (const t of data.threads)
		if (!pids.has(t.pid))
			pids.set(t.pid, t.process);
	option($("process"), "", "All processes");
	for (const [pid, name] of pids)
		option($("process"), pid, name + " (" + pid + ")");
	$("process").hidden = pids.size < 2;
}

function fillThreads() {
	$("thread").replaceChildren();
	option($("thread"), "", "All threads");
	data.threads.forEach((t, i) => {
		if (state.process === "" || String(t.pid) === state.process)
			option($("thread"), i, t.name + " (" + t.tid + ")");
	});
	$("thread").hidden = data.threads.length < 2;
	state.thread = "";
}

/* The recording as which frames are as wide. */
function chooseSide(by) {
	state.by = by;
	pressed("by-before", by === "before");
	pressed("by-after", by === "after");
}

/* The buttons that change the flame graph: whether the tree is another one then. */
const SWITCHES = [["icicle", false], ["reverse", false], ["plumbing", true], ["recursion", true], ["threads", true]];

function press([id, reshapes]) {
	$(id).addEventListener("click", () => {
		state[id] = !state[id];
		pressed(id, state[id]);
		if (reshapes)
			shape();
		id === "icicle" ? layout() : rebuild();
		changed(true);
	});
}

/* One step back from what is chosen. */
function escape() {
	if (!$("help").hidden) {
		help(false);
	} else if (state.view === "timeline" && picked) {
		unpick();
	} else if (active && !(active === flame && flame.zoom === flame.focus)) {
		selectFrame(active, -1);
	} else if ((state.view === "graph" || state.view === "methods") && $("search").value !== "") {
		$("search").value = "";
		searched();
	} else if (state.view === "graph" && flame.zoom !== 0) {
		zoomTo(flame, 0);
	} else if (state.range) {
		heatFrom = null;
		selectRange(null);
	} else if (state.view === "timeline" && laneFilter !== "") {
		laneFilter = $("lanes").value = "";
		lay();
	}
}

function help(open) {
	$("help").hidden = !open;
	$(open ? "help-close" : "help-open").focus();
}
