/* SPDX-License-Identifier: Apache-2.0 */
/* ---- the table of methods, and one method with its callers above it and its callees below it ---- */
const ROWS_AT_ONCE = 300;
const callers = makeFlame("callers", "callers-canvas", "callers-spacer", {reverse: true, skip: 1});
const callees = makeFlame("callees", "callees-canvas", "callees-spacer", {icicle: true, skip: 2});
let methodTree = null, sums = null, listed = [], shownRows = ROWS_AT_ONCE;

/* Columns: key, title, the column's number of a label. */
function methodColumns() {
	if (!graph.before)
		return [["self", "Self", l => sums.self[l]], ["total", "Total", l => sums.total[l]]];
	const [was, is] = comparedSums();
	return [["change", "Change", l => Math.abs(partOf(is[l], "after") - partOf(was[l], "before"))], ["before", "Before", l => was[l]], ["after", "After", l => is[l]],
		["chance", "Chance", l => 1 - chanceOf(graph.labels[l])]];
}

/* What is compared: methods by themselves, or with what they call. */
function comparedSums() {
	return COMPARED.with_callees ? [sums.was, sums.total] : [sums.selfWas, sums.self];
}

function isMethod(name) {
	return methodLabel(name) >= 0;
}

/* The label of a name that was recorded, not one that the page has made. */
function methodLabel(name) {
	graph.numbers ||= new Map(graph.labels.slice(0, graph.named).map((text, l) => [text, l]));
	return graph.numbers.get(name) ?? -1;
}

function layMethods() {
	const on = weightsOn(whole);
	methodTree = weighed(whole, on.self, on.was);
	sums = sumsByLabel(methodTree, graph.named);
	const columns = methodColumns();
	if (!columns.some(column => column[0] === state.sort) && state.sort !== "name")
		state.sort = columns[0][0];
	listed = [];
	for (let l = 0; l < graph.named; l++)
		if ((sums.total[l] || (sums.was && sums.was[l])) && (!matchedLabel || matchedLabel[l]))
			listed.push(l);
	const column = columns.find(one => one[0] === state.sort), by = column && column[2], other = sums.total;
	listed.sort((a, b) => (by ? by(b) - by(a) || other[b] - other[a] : 0) || (graph.labels[a] < graph.labels[b] ? -1 : 1));
	if (!isMethod(state.method) && listed.length)
		state.method = graph.labels[listed[0]];
	shownRows = ROWS_AT_ONCE;
	$("empty-methods").hidden = listed.length > 0;
	fillTable();
	laySandwich();
}

function headCell(row, key, title) {
	const cell = element("th", "", row), button = element("button", title, cell);
	cell.setAttribute("scope", "col");
	cell.className = key === "name" ? "name" : "number";
	cell.setAttribute("aria-sort", key !== state.sort ? "none" : key === "name" ? "ascending" : "descending");
	button.addEventListener("click", () => {
		state.sort = key;
		layMethods();
		changed(false);
	});
}

function numberCell(row, key, label) {
	const cell = element("td", "", row);
	cell.className = "number";
	if (!graph.before) {
		barCell(cell, sums[key][label], methodTree.total[0], amount(sums[key][label]));
		return;
	}
	const [was, is] = comparedSums();
	if (key === "change") {
		cell.textContent = changeText(was[label], is[label], true);
		cell.style.color = changeInk(was[label], is[label]);
	} else if (key === "chance") {
		cell.textContent = chanceText(graph.labels[label]);
		cell.title = "The chance that a difference like this is one by chance; \u25cf: it is reported as a change";
	} else {
		const value = (key === "before" ? was : is)[label];
		barCell(cell, partOf(value, key), 1, amount(value));
	}
}

function fillTable() {
	const columns = methodColumns(), head = $("method-head"), body = $("method-rows");
	head.replaceChildren();
	body.replaceChildren();
	const titles = element("tr", "", head);
	for (const [key, title] of columns)
		headCell(titles, key, title);
	headCell(titles, "name", "Method");
	const room = titles.lastElementChild.clientWidth - 22;
	for (const label of listed.slice(0, shownRows)) {
		const row = element("tr", "", body), name = graph.labels[label];
		for (const [key] of columns)
			numberCell(row, key, label);
		const cell = element("td", "", row), button = element("button", fit(context, name, room * 12 / 13), cell);
		cell.className = "name";
		cell.title = name;
		button.tabIndex = -1;
		row.dataset.name = name;
		row.addEventListener("click", () => {
			chooseMethod(name);
			if ($("methods-view").scrollHeight > $("methods-view").clientHeight + 1) /* on a telephone, they are below */
				$("sandwich").scrollIntoView();
		});
	}
	markRow(false);
	$("more-methods").hidden = listed.length <= shownRows;
	$("more-methods").textContent = "Show more: " + (listed.length - shownRows).toLocaleString("en");
}

function rowsOfTable() {
	return [...$("method-rows").children];
}

/* One row can be reached by the tab key; arrows go on from there. */
function markRow(focus) {
	const rows = rowsOfTable(), chosen = rows.find(row => row.dataset.name === state.method);
	for (const row of rows)
		row.setAttribute("aria-selected", String(row === chosen));
	const one = chosen || rows[0];
	if (!one)
		return;
	for (const row of rows)
		row.lastElementChild.firstElementChild.tabIndex = row === one ? 0 : -1;
	if (focus)
		one.lastElementChild.firstElementChild.focus();
}

function keyTable(event) {
	const rows = rowsOfTable(), step = {ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -rows.length, End: rows.length}[event.key];
	if (!step || !rows.length)
		return false;
	const at = rows.findIndex(row => row.dataset.name === state.method);
	chooseMethod(rows[Math.max(0, Math.min(rows.length - 1, at + step))].dataset.name, true);
	return true;
}

function chooseMethod(name, focus = false) {
	state.method = name;
	markRow(focus);
	laySandwich();
	changed(!focus);
}

/* Shows a method in the table's view. */
function showMethod(name) {
	state.method = name;
	if (state.view === "methods")
		layMethods();
	else
		show("methods");
	changed(true);
}

function laySandwich() {
	const label = methodLabel(state.method), nodes = label < 0 ? [] : outermost(whole, label).filter(i => methodTree.total[i] || (methodTree.was && methodTree.was[i]));
	if (active && active !== flame)
		selectFrame(active, -1);
	$("sandwich").hidden = nodes.length === 0;
	$("choose-method").hidden = nodes.length > 0;
	if (!nodes.length) {
		callers.tree = callees.tree = null;
		return;
	}
	const on = {self: new Float64Array(whole.count), was: methodTree.was && new Float64Array(whole.count)};
	for (const i of nodes) {
		on.self[i] = methodTree.total[i];
		if (on.was)
			on.was[i] = methodTree.was[i];
	}
	callers.tree = reversed(whole, on.self, on.was);
	callees.tree = calledBy(methodTree, nodes);
	$("method-name").textContent = state.method;
	$("method-numbers").textContent = sums.was ? changeText(sums.was[label], sums.total[label]) + " with what it calls; itself: " + changeText(sums.selfWas[label], sums.self[label]) :
		"self " + amount(sums.self[label]) + ", " + share(sums.self[label], methodTree.total[0]) + " \u00b7 total " + amount(sums.total[label]) + ", " + share(sums.total[label], methodTree.total[0]);
	linkSource("method-source", state.method);
	for (const f of [callers, callees]) {
		Object.assign(f, {zoom: 0, focus: -1, hover: -1});
		layFlame(f);
	}
	note("no-callees", callees.rows.length ? "" : "It calls nothing that was seen.");
}
