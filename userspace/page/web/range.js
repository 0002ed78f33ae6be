/* SPDX-License-Identifier: Apache-2.0 */
/* ---- the view, and the selected part of the time, which all views share ---- */
function showRange() {
	note("range", state.range ? exactTime(state.range[0]) + " \u2013 " + exactTime(state.range[1]) + "  (" + lengthText(state.range[1] - state.range[0]) + ") \u00d7" : "");
}

function selectRange(range) {
	state.range = range && range[1] > range[0] ? [Math.max(begin, range[0]), Math.min(end, range[1])] : null;
	showRange();
	if (state.view === "graph" || state.view === "methods")
		rebuild();
	else
		redraw();
	changed(true);
}

function chooseThread(number) {
	state.thread = number;
	$("thread").value = number;
	rebuild();
	changed(true);
}

/* What belongs to each view. */
const PARTS = {
	search: ["graph", "methods"], lanes: ["timeline"], graph: ["graph", "methods", "heat"], "flame-tools": ["graph"], "time-tools": ["timeline"],
	view: ["graph", "timeline", "heat"], "methods-view": ["methods"], "explain-view": ["explain"], "recording-view": ["recording"], choices: ["graph", "methods", "timeline", "heat", "explain"],
	"diff-tools": ["graph", "methods"],
};

function setView(name) {
	state.view = name;
	for (const [view, id] of Object.entries(VIEWS)) {
		$(id).setAttribute("aria-selected", String(view === name));
		$(id).tabIndex = view === name ? 0 : -1;
	}
	for (const [id, views] of Object.entries(PARTS))
		$(id).hidden = !views.includes(name);
	if (data.graphs.length < 2)
		$("graph").hidden = true;
	if (!COMPARED)
		$("diff-tools").hidden = true;
	$("threads").hidden = Boolean(COMPARED);
	$(VIEWS[name]).scrollIntoView?.({block: "nearest", inline: "nearest"});
	$("methods-view").className = COMPARED ? "four" : "";
	view.dataset.view = name;
	view.setAttribute("aria-label", {graph: "Flame graph", timeline: "Timeline", heat: "Heat map"}[name] || "");
	$("matched").textContent = "";
	$("panel").hidden = name !== "timeline" || !picked;
	heatFrom = heatCell = null;
	lineAt = -1;
	untip();
}

/* Shows a view, which is no step by itself. */
function turnTo(name) {
	view.scrollTop = 0;
	setView(name);
	rebuild();
}

function show(name) {
	if (state.view === name || $(VIEWS[name]).hidden)
		return;
	turnTo(name);
	changed(true);
}
