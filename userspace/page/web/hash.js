/* SPDX-License-Identifier: Apache-2.0 */
/* ---- what is shown is in the address, so that it can be passed on, and the browser's "back" goes back ---- */
let restoring = false, written = "", later = 0;
const DEEPEST = 400; /* frames of a zoom that an address has */

/* A short number for a name; a path of them leads to a frame. */
function nameHash(text) {
	let hash = 0x811c9dc5;
	for (let i = 0; i < text.length; i++)
		hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
	return (hash >>> 0).toString(36);
}

function pathOf(tree, node) {
	const path = [];
	for (let i = node; i && path.length < DEEPEST; i = tree.parent[i])
		path.unshift(nameHash(tree.labels[tree.label[i]]));
	return path;
}

/* The node that a path leads to, as far as it goes. */
function nodeOf(tree, path) {
	let node = 0;
	for (const hash of path) {
		tree.expand(node);
		let c = tree.first[node];
		while (c >= 0 && nameHash(tree.labels[tree.label[c]]) !== hash)
			c = tree.next[c];
		if (c < 0)
			break;
		node = c;
	}
	return node;
}

/* What each item is called in an address: equal texts are numbered. A recording that grows changes the order of items. */
function keysOf(list, text) {
	const seen = new Map();
	return list.map(item => {
		const key = text(item), count = seen.get(key) || 0;
		seen.set(key, count + 1);
		return count ? key + "~" + count : key;
	});
}

function graphKeys() {
	return keysOf(data.graphs, g => g.name);
}

function threadKeys() {
	return keysOf(data.threads, t => t.pid + "." + t.tid);
}

function hashText() {
	const out = [], add = (name, value, usual) => String(value) !== String(usual) && out.push(name + "=" + encodeURIComponent(value));
	add("view", state.view, "graph");
	if (state.graph)
		add("graph", graphKeys()[state.graph], "");
	add("process", state.process, "");
	if (state.thread !== "")
		add("thread", threadKeys()[+state.thread], "");
	add("search", $("search").value, "");
	add("lanes", laneFilter, "");
	if (from !== begin || to !== end)
		out.push("time=" + from.toFixed(3) + "-" + to.toFixed(3));
	if (state.range)
		out.push("range=" + state.range.map(us => us.toFixed(3)).join("-"));
	for (const [name] of SWITCHES)
		add(name, state[name] ? 1 : 0, name === "plumbing" ? 1 : 0);
	add("without", [...state.hidden].join("-"), "");
	add("by", state.by, "after");
	add("method", state.method, "");
	add("sort", state.sort, "self");
	add("last", state.last, "");
	if (state.view === "explain")
		add("explain", state.explain, "");
	if (flame.tree && flame.zoom)
		add("zoom", pathOf(flame.tree, flame.zoom).join("."), "");
	return out.join("&");
}

/* `step`: going back comes here. Movements are written when they end. */
function changed(step) {
	if (restoring)
		return;
	clearTimeout(later);
	if (step)
		writeHash(true);
	else
		later = setTimeout(() => writeHash(false), 300);
}

function writeHash(step) {
	const text = hashText();
	if (text === written)
		return;
	written = text;
	try {
		history[step ? "pushState" : "replaceState"](null, "", "#" + text);
	} catch (error) {
		/* a browser may forbid it for files; the page works without */
	}
}

function timesIn(text) {
	const list = (text || "").split("-").map(Number), good = list.length === 2 && list[0] < list[1] && list.every(Number.isFinite);
	return good && list[1] > begin && list[0] < end ? [Math.max(begin, list[0]), Math.min(end, list[1])] : null;
}

/* The pairs of an address; what is not well-formed is left out. */
function hashPairs(text) {
	return new Map(text.split("&").map(pair => {
		const at = pair.indexOf("=");
		try {
			return at < 0 ? [pair, ""] : [pair.slice(0, at), decodeURIComponent(pair.slice(at + 1))];
		} catch (error) {
			return ["", ""];
		}
	}));
}

function readHash(text) {
	const got = hashPairs(text), number = (name, keys) => keys.indexOf(got.get(name));
	restoring = true;
	for (const [name] of SWITCHES) {
		state[name] = (got.get(name) || (name === "plumbing" ? "1" : "0")) === "1";
		pressed(name, state[name]);
	}
	state.hidden = new Set((got.get("without") || "").split("-").filter(text => /^\d+$/.test(text) && +text < data.kinds.length).map(Number));
	chooseSide(COMPARED && got.get("by") === "before" ? "before" : "after");
	state.method = got.get("method") || "";
	state.sort = got.get("sort") || "self";
	state.last = got.get("last") || "";
	state.explain = got.get("explain") || "";
	choose(Math.max(0, number("graph", graphKeys())));
	$("graph").value = String(state.graph);
	state.process = data.threads.some(t => String(t.pid) === got.get("process")) ? got.get("process") : "";
	$("process").value = state.process;
	fillThreads();
	const thread = number("thread", threadKeys());
	state.thread = thread < 0 ? "" : String(thread);
	$("thread").value = state.thread;
	state.range = timesIn(got.get("range"));
	[from, to] = timesIn(got.get("time")) || [begin, end];
	$("search").value = got.get("search") || "";
	laneFilter = $("lanes").value = got.get("lanes") || "";
	const view = got.get("view");
	setView(Object.hasOwn(VIEWS, view) && !$(VIEWS[view]).hidden ? view : "graph");
	showRange();
	match();
	rebuild((got.get("zoom") || "").split(".").filter(text => text !== "").slice(0, DEEPEST));
	written = hashText();
	restoring = false;
}
