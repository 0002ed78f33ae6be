/* SPDX-License-Identifier: Apache-2.0 */
/* ---- search ---- */
function search() {
	if (state.view !== "graph")
		return;
	const text = $("search").value, out = $("matched");
	matchedLabel = null;
	out.textContent = "";
	out.classList.remove("bad");
	$("search").classList.remove("bad");
	if (text === "")
		return;
	let regex;
	try {
		regex = new RegExp(text, "i");
	} catch (error) {
		out.textContent = "not a regular expression";
		out.classList.add("bad");
		$("search").classList.add("bad");
		return;
	}
	matchedLabel = graph.labels.map(label => regex.test(label));
	out.textContent = "matched " + share(weightOf(recorded, weights, matchedLabel), tree.total[0]);
}

function share(part, whole) {
	return (whole ? 100 * part / whole : 0).toFixed(2) + " %";
}

function scaled(n, step, units) {
	let i = 0;
	for (; n >= step && i + 1 < units.length; i++)
		n /= step;
	return (i ? n.toFixed(2) : n.toLocaleString("en")) + " " + units[i];
}

/* A weight in the graph's unit. */
function amount(n) {
	return amountOf(n, graph.unit);
}

function amountOf(n, unit) {
	if (unit === "ns")
		return scaled(n, 1000, ["ns", "\u00b5s", "ms", "s"]);
	if (unit === "bytes")
		return scaled(n, 1024, ["B", "KiB", "MiB", "GiB", "TiB"]);
	return n.toLocaleString("en") + " " + (n === 1 ? unit.slice(0, -1) : unit);
}

/* ---- what lies under the pointer ---- */
function hit(event) {
	const box = canvas.getBoundingClientRect(), x = (event.clientX - box.left) / box.width, y = event.clientY - box.top;
	for (let depth = 0; depth < rows.length; depth++) {
		const t = top(depth);
		if (y < t || y >= t + ROW)
			continue;
		for (let k = 0; k < rows[depth].length; k += 3)
			if (x >= rows[depth][k + 1] && x < rows[depth][k + 1] + rows[depth][k + 2])
				return rows[depth][k];
	}
	return -1;
}

function tip(event) {
	if (state.view !== "graph") {
		const at = canvas.getBoundingClientRect();
		state.view === "heat" ? heatMove(event, event.clientX - at.left, event.clientY - at.top) : tipTimeline(event);
		return;
	}
	const i = hit(event), box = $("tip");
	if (i !== state.hover) {
		state.hover = i;
		draw();
	}
	box.hidden = i < 0;
	canvas.style.cursor = i < 0 ? "default" : "pointer";
	if (i < 0)
		return;
	showTip(nameOf(i), [i ? data.kinds[tree.kind[i]] : "", "total " + amount(tree.total[i]) + ", " + share(tree.total[i], tree.total[0]),
		"self " + amount(tree.self[i]) + ", " + share(tree.self[i], tree.total[0])], event);
}

function placeTip(event) {
	const box = $("tip"), size = box.getBoundingClientRect();
	box.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - size.width - 4)) + "px";
	box.style.top = (event.clientY + 18 + size.height > innerHeight ? event.clientY - size.height - 10 : event.clientY + 18) + "px";
}

function untip() {
	$("tip").hidden = true;
	if (state.hover >= 0 || cursor !== null) {
		state.hover = -1;
		cursor = null;
		redraw();
	}
}

function zoom(i) {
	state.zoom = i;
	untip();
	layout();
}

/* ---- controls ---- */
function option(select, value, text) {
	const o = document.createElement("option");
	o.value = value;
	o.textContent = text;
	select.append(o);
}

function fillProcesses() {
	const pids = new Map();
	for (const t of data.threads)
		if (!pids.has(t.pid))
			pids.set(t.pid, t.process);
	option($("process"), "", "All processes");
	for (const [pid, name] of pids)
		option($("process"), pid, name + " (" + pid + ")");
}

function fillThreads() {
	$("thread").replaceChildren();
	option($("thread"), "", "All threads");
	data.threads.forEach((t, i) => {
		if (state.process === "" || String(t.pid) === state.process)
			option($("thread"), i, t.name + " (" + t.tid + ")");
	});
	state.thread = "";
}

function legendItem(colour, text) {
	const item = document.createElement("span"), swatch = document.createElement("i");
	item.className = "kind";
	swatch.style.background = colour;
	item.append(swatch, text);
	$("legend").append(item);
}

function legend() {
	const sums = new Float64Array(data.kinds.length), seen = new Uint8Array(sums.length), theme = dark() ? 1 : 0;
	let all = 0;
	for (let i = 1; i < recorded.count; i++) {
		seen[recorded.kind[i]] = 1;
		sums[recorded.kind[i]] += weights[i];
		all += weights[i];
	}
	$("legend").replaceChildren();
	/* Kinds that no frame of this graph has belong to other graphs or other programs, so they get no zero. */
	data.kinds.forEach((kind, k) => {
		if (seen[k])
			legendItem(COLOURS[kind][theme], kind + " " + share(sums[k], all));
	});
	$("legend").title = "Share of the weight whose leaf is of this kind";
}

function press(id, name) {
	$(id).addEventListener("click", () => {
		state[name] = !state[name];
		$(id).setAttribute("aria-pressed", state[name]);
		name === "icicle" ? layout() : rebuild();
		changed(true);
	});
}

function themed() {
	$("theme").textContent = dark() ? "Light" : "Dark";
	if (state.view !== "graph")
		layout();
	else
		legend();
	draw();
}

function note(id, text) {
	$(id).textContent = text;
	$(id).hidden = text === "";
}

/* What was recorded, what the selection leaves out, and what is missing. */
function about() {
	const a = data.about, lost = a.lost.map(l => l.count.toLocaleString("en") + " " + l.kind + " (" + l.hop + ")");
	if (!a.ended)
		lost.push("the last part of the recording");
	note("about", [a.host, a.began, a.command || a.target].filter(text => text !== "").join(" \u00b7 "));
	note("filter", a.filter === null ? "" : "Only: " + a.filter);
	note("lost", lost.length ? "Lost: " + lost.join(", ") : "");
}

document.title = data.title + " - braid";
$("title").textContent = data.title;
data.graphs.forEach((g, i) => option($("graph"), i, g.name));
$("graph").hidden = data.graphs.length < 2;
about();
choose(0);
resetRange();
$("timeline").hidden = spans.length === 0 && cpuLanes.length === 0 && !hasLives;
$("heat").hidden = !data.graphs.some(g => g.times);
for (const [id, name] of [["flames", "graph"], ["timeline", "timeline"], ["heat", "heat"]])
	$(id).addEventListener("click", () => show(name));
press("icicle", "icicle");
press("reverse", "reverse");
$("reset").addEventListener("click", () => {
	if (state.view === "timeline")
		showTime(begin, end);
	else
		zoom(0);
});
$("range").addEventListener("click", () => selectRange(null));
$("panel-close").addEventListener("click", unpick);
$("lanes").addEventListener("input", event => {
	laneFilter = event.target.value;
	lay();
	changed(false);
});
$("theme").addEventListener("click", () => {
	document.documentElement.dataset.theme = dark() ? "light" : "dark";
	themed();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", themed);
$("search").addEventListener("input", () => {
	search();
	draw();
	changed(false);
});
$("graph").addEventListener("change", event => {
	choose(+event.target.value);
	rebuild();
	changed(true);
});
$("process").addEventListener("change", event => {
	state.process = event.target.value;
	fillThreads();
	rebuild();
	changed(true);
});
$("thread").addEventListener("change", event => chooseThread(event.target.value));
canvas.addEventListener("mousemove", event => dragged || tip(event));
canvas.addEventListener("mouseleave", () => dragged || untip());
addEventListener("mousemove", event => dragged && tip(event));
canvas.addEventListener("mousedown", event => {
	const at = canvas.getBoundingClientRect();
	if (state.view === "timeline")
		downTimeline(event);
	else if (state.view === "heat")
		heatDown(event.clientX - at.left, event.clientY - at.top);
});
addEventListener("mouseup", event => {
	const at = canvas.getBoundingClientRect();
	if (state.view === "heat")
		heatUp(event.clientX - at.left, event.clientY - at.top);
	endDrag();
});
canvas.addEventListener("wheel", event => state.view === "timeline" && wheelTimeline(event), {passive: false});
canvas.addEventListener("click", event => {
	const i = state.view === "graph" ? hit(event) : -1;
	if (i >= 0)
		zoom(i);
});
view.addEventListener("scroll", () => { $("tip").hidden = true; draw(); });
addEventListener("resize", layout);
addEventListener("popstate", readHash);
addEventListener("keydown", event => {
	const typing = ["INPUT", "SELECT"].includes(document.activeElement && document.activeElement.tagName), field = $(state.view === "timeline" ? "lanes" : "search");
	if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
		event.preventDefault();
		field.focus();
		field.select();
	} else if (event.key === "Escape") {
		escape();
		field.blur();
	} else if (state.view === "timeline" && !typing && keyTimeline(event)) {
		event.preventDefault();
	}
});

/* One step back from what is chosen. */
function escape() {
	if (state.view === "timeline" && picked) {
		unpick();
	} else if (state.range) {
		heatFrom = null;
		selectRange(null);
	} else if (state.view === "timeline" && laneFilter !== "") {
		laneFilter = $("lanes").value = "";
		lay();
	} else if (state.view === "graph" && $("search").value !== "") {
		$("search").value = "";
		search();
		draw();
	} else if (state.view === "graph" && state.zoom !== 0) {
		zoom(0);
	}
}

/* For tests of the page. */
globalThis.braidPage = {
	data, state, lines: () => lines, name: k => laneName(lines[k].thread), stateNumber: key => states.findIndex(s => s[0] === key), drawn: () => drawn, shown: () => [from, to], showTime, total: () => tree ? tree.total[0] : 0, picked: () => picked,
	place: (k, us) => [xOf(us), lineTop(k) + ROW / 2], segments: k => segmentsOf(lines[k].lane), draw, heat: () => heat,
	heatPlace: us => {
		const {w, top, tall} = heatGeometry(), cell = Math.floor((us - heat.start) / heat.slice);
		return [LEFT + (Math.floor(cell / HEAT_ROWS) + 0.5) * w, top + (HEAT_ROWS - 0.5 - cell % HEAT_ROWS) * tall];
	},
};
fillProcesses();
readHash();
themed();
})();
