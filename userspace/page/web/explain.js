/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ---- why spans and threads took as long as they did: the critical paths that braid has found ----
 * Each moment of a stretch is in one row of its table, so the rows add up to it. A row leads to its stack, and from there to the timeline and
 * the flame graph.
 */
const WHYS = {span: "Slowest spans", busy: "Busiest threads", waited: "Threads that waited longest"};
let explained = [];

function readExplained() {
	explained = data.explain ? data.explain.list : [];
	const keys = keysOf(explained, e => e.span ? e.span : e.vthread ? "v" + e.vthread : data.threads[e.thread].pid + "." + e.number);
	explained.forEach((e, k) => { e.key = keys[k]; });
}

function explanationTitle(e) {
	return e.span ? (e.attributes.trim() || "Span " + e.span) : e.name;
}

function ownerText(e) {
	return e.name + " (" + e.number + ")";
}

/* The explanation of a thread's life; undefined: the page has none. */
function explanationOf(thread, vthread) {
	return explained.find(e => !e.span && e.thread === thread && e.vthread === (vthread || 0));
}

function showExplanation(e) {
	state.explain = e.key;
	if (state.view === "explain")
		layExplain();
	else
		turnTo("explain");
	changed(true);
}

/* ---- the list ---- */

/* The states of a stretch as one bar. */
function stateBar(box, e) {
	const bar = element("span", "", box), sums = new Map();
	bar.className = "states";
	bar.setAttribute("aria-hidden", "true");
	for (const part of e.parts)
		sums.set(part.state, (sums.get(part.state) || 0) + part.ns);
	for (const [s, ns] of [...sums].sort((a, b) => b[1] - a[1])) {
		const piece = element("i", "", bar);
		piece.style.width = 100 * ns / e.ns + "%";
		piece.style.background = stateColour(s);
		piece.title = states[s][1] + " " + share(ns, e.ns);
	}
}

function listExplanation(box, e) {
	const item = element("button", "", box), head = element("span", "", item);
	item.type = "button";
	item.className = "stretch";
	item.setAttribute("aria-pressed", String(e.key === state.explain));
	item.dataset.key = e.key;
	head.className = "line";
	element("b", explanationTitle(e), head);
	element("span", amountOf(e.ns, "ns"), head).className = "number";
	stateBar(item, e);
	element("span", e.parts.length ? share(e.parts[0].ns, e.ns) + " " + e.parts[0].what : "nothing is recorded of it", item).className = "reason";
	item.title = explanationTitle(e) + (e.span ? ", " + ownerText(e) : "");
	item.addEventListener("click", () => showExplanation(e));
}

/* Those of the chosen threads, in the order of the list. */
function seenExplanations() {
	return explained.filter(e => wanted(data.threads[e.thread]));
}

function fillExplained(seen) {
	const box = $("explain-list");
	box.replaceChildren();
	for (const [why, title] of Object.entries(WHYS)) {
		const some = seen.filter(e => e.why === why);
		if (some.length)
			element("h3", title, box);
		some.forEach(e => listExplanation(box, e));
	}
	const more = data.explain ? data.explain.left_out : 0;
	if (!seen.length)
		element("p", "The page explains no thread of this selection", box).className = "hint";
	else if (more)
		element("p", more.toLocaleString("en") + " more are left out: their paths are too long", box).className = "hint";
}

/* ---- one explanation ---- */

/* Where on the timeline the longest of several was, and which row shows it. */
function showLongest(e, of) {
	const us = of.count ? of.longest.at_us : e.from_us, wide = Math.max(of.count ? of.longest.ns / 1000 : e.ns / 1000, SHORTEST_US);
	laneFilter = $("lanes").value = "";
	turnTo("timeline");
	const line = revealThread(of.longest.thread, of.longest.vthread);
	showTime(us - wide / 2, us + wide * 1.5);
	if (line && line.lane && of.count) {
		const lane = segmentsOf(line.lane), i = firstAt(lane.end, us + 0.1);
		if (i < lane.start.length && lane.start[i] <= us + 0.1)
			pick(line, i, false);
	}
	changed(true);
}

/* The names of a node of the explanations' stacks, from the root on. */
function explainedPath(node) {
	return framesOf(data.explain.stacks, node).reverse();
}

/* The node of a graph at which a path ends, or the part of it that the graph has: its number, and how far it came. */
function pathIn(g, path) {
	let node = 0, depth = 0;
	for (let i = 1; i <= g.nodes.length / 3 && depth < path.length; i++) /* a node comes after its parent */
		if (g.nodes[i * 3 - 3] === node && g.labels[g.nodes[i * 3 - 2]] === path[depth]) {
			node = i;
			depth++;
		}
	return {node, depth};
}

/* Zooms to a stack in the flame graph that has most of it. */
function showInFlames(node) {
	const path = explainedPath(node), found = data.graphs.map(g => pathIn(g, path)), best = found.reduce((a, b, k) => b.depth > found[a].depth ? k : a, 0);
	for (const [name] of SWITCHES.filter(([id]) => id === "reverse" || id === "threads"))
		pressed(name, state[name] = false);
	state.range = null;
	showRange();
	choose(best);
	$("graph").value = String(best);
	turnTo("graph");
	zoomTo(flame, recorded.place(0, found[best].node));
}

/* What a row leads to, below it. */
function openRow(box, e, of) {
	const actions = element("div", "", box), node = of.longest.node;
	actions.className = "actions";
	const add = (text, act) => element("button", text, actions).addEventListener("click", act);
	if (!$("timeline").hidden)
		add(of.count ? "Show the longest on the timeline" : "Show on the timeline", () => showLongest(e, of));
	if (node) {
		add("Show in the flame graph", () => showInFlames(node));
		add("Copy stack", () => copyNames(framesOf(data.explain.stacks, node)));
		stackList(box, data.explain.stacks, node);
	}
}

/* A button that says what, and opens what belongs to it in `under`. */
function opener(cell, text, under, fill) {
	const button = element("button", text, cell);
	let filled = false;
	button.type = "button";
	button.className = "opens";
	button.setAttribute("aria-expanded", "false");
	button.addEventListener("click", () => {
		const open = button.getAttribute("aria-expanded") === "true";
		button.setAttribute("aria-expanded", String(!open));
		under.hidden = open;
		if (!filled)
			fill();
		filled = true;
	});
	return button;
}

function swatch(box, s) {
	element("i", "", box).className = "swatch";
	box.lastElementChild.style.background = stateColour(s);
	box.lastElementChild.title = states[s][1];
}

function partRow(body, e, part) {
	const row = element("tr", "", body), below = element("tr", "", body), under = element("td", "", below);
	barCell(element("td", "", row), part.ns, e.ns, part.ns.toLocaleString("en") + " ns");
	element("td", amountOf(part.ns, "ns"), row).className = "number";
	element("td", part.count ? part.count.toLocaleString("en") : "", row).className = "number wide";
	element("td", part.count ? amountOf(part.longest.ns, "ns") : "", row).className = "number wide";
	row.firstElementChild.style.backgroundSize = 100 * part.ns / e.ns + "% 25px";
	const cell = element("td", "", row), head = element("div", "", cell);
	cell.className = "name";
	head.className = "node";
	swatch(head, part.state);
	opener(head, part.what, below, () => openRow(under, e, part));
	if (part.for)
		element("span", "for: " + part.for, cell).className = "for";
	under.colSpan = 5;
	below.hidden = true;
	below.className = "below";
}

function partTable(box, e) {
	const table = element("table", "", box), head = element("tr", "", element("thead", "", table)), body = element("tbody", "", table);
	table.className = "parts";
	table.setAttribute("aria-label", "Parts");
	for (const [title, name] of [["Share", "number"], ["Time", "number"], ["Count", "number wide"], ["Longest", "number wide"], ["What and where", "name"]]) {
		const cell = element("th", title, head);
		cell.scope = "col";
		cell.className = name;
	}
	e.parts.forEach(part => partRow(body, e, part));
	if (e.others) {
		const row = element("tr", "", body);
		barCell(element("td", "", row), e.others_ns, e.ns, e.others_ns.toLocaleString("en") + " ns");
		element("td", amountOf(e.others_ns, "ns"), row).className = "number";
		element("td", e.others.toLocaleString("en") + (e.others === 1 ? " other part" : " other parts"), row).colSpan = 3;
	}
}

/* What waited for what: the children of a wait are what those did who ended it. */
function pathTree(box, e, parent) {
	const nodes = e.nodes.map((node, k) => ({...node, number: k + 1})).filter(node => node.parent === parent).sort((a, b) => b.ns - a.ns);
	if (!nodes.length)
		return;
	const list = element("ul", "", box);
	for (const node of nodes) {
		const item = element("li", "", list), head = element("div", "", item), under = element("div", "", item);
		head.className = "node";
		under.className = "below";
		under.hidden = true;
		element("span", share(node.ns, e.ns), head).className = "number";
		swatch(head, node.state);
		opener(head, node.what + (node.until === "" ? "" : ", until " + node.until), under, () => openRow(under, e, node));
		pathTree(item, e, node.number);
	}
}

function describeExplanation(e) {
	const box = $("explain-body");
	box.replaceChildren();
	box.scrollTop = 0;
	element("h2", explanationTitle(e) + " took " + amountOf(e.ns, "ns"), box);
	element("p", [e.span ? ownerText(e) : "thread " + e.number, e.span ? "span " + e.span : "", "from " + exactTime(e.from_us) + " to " + exactTime(e.to_us)].filter(Boolean).join(" \u00b7 "), box).className = "muted";
	stateBar(box, e);
	element("p", e.reason ? share(e.parts[0].ns, e.ns) + " " + e.reason : "Nothing is recorded of it", box).className = "because";
	const actions = element("div", "", box);
	actions.className = "actions";
	element("button", "Show on the timeline", actions).addEventListener("click", () => showLongest(e, {count: 0, longest: e}));
	element("button", "Select this time", actions).addEventListener("click", () => selectRange([e.from_us, e.to_us]));
	element("h3", "Where the time went", box);
	partTable(box, e);
	element("h3", "What waited for what", box);
	const tree = element("div", "", box);
	tree.className = "tree";
	pathTree(tree, e, 0);
	if (e.cut)
		element("p", "The path is very long: behind some point, no more wakers were followed", box).className = "hint";
}

function layExplain() {
	const seen = seenExplanations(), chosen = seen.find(e => e.key === state.explain) || seen[0];
	state.explain = chosen ? chosen.key : "";
	fillExplained(seen);
	$("explain-body").hidden = !chosen;
	if (chosen)
		describeExplanation(chosen);
}

/* True: the key has a meaning. */
function keyExplain(event) {
	const step = {ArrowDown: 1, ArrowUp: -1}[event.key], list = seenExplanations();
	if (!step || !list.length)
		return false;
	const at = list.findIndex(e => e.key === state.explain);
	showExplanation(list[Math.max(0, Math.min(list.length - 1, at + step))]);
	$("explain-list").querySelector("[aria-pressed=true]").scrollIntoView({block: "nearest"});
	return true;
}
