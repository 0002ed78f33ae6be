/* SPDX-License-Identifier: Apache-2.0 */
/* ---- the selected part of the time, which all views share ---- */
function showRange() {
	$("range").hidden = state.range === null;
	$("range").textContent = state.range ? exactTime(state.range[0]) + " \u2013 " + exactTime(state.range[1]) + "  (" + lengthText(state.range[1] - state.range[0]) + ") \u00d7" : "";
}

function selectRange(range) {
	state.range = range && range[1] > range[0] ? [Math.max(begin, range[0]), Math.min(end, range[1])] : null;
	showRange();
	if (state.view === "graph")
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

function setView(name) {
	state.view = name;
	for (const [id, view] of [["flames", "graph"], ["timeline", "timeline"], ["heat", "heat"]])
		$(id).setAttribute("aria-pressed", view === name);
	$("lanes").hidden = name !== "timeline";
	$("search").hidden = $("icicle").hidden = $("reverse").hidden = name !== "graph";
	$("graph").hidden = data.graphs.length < 2 || name === "timeline";
	$("matched").textContent = "";
	$("panel").hidden = name !== "timeline" || !picked;
	heatFrom = null;
	untip();
}

function show(name) {
	if (state.view === name)
		return;
	view.scrollTop = 0;
	setView(name);
	rebuild();
	changed(true);
}
