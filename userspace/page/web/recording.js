/* SPDX-License-Identifier: Apache-2.0 */
/* ---- the recording: what a page that is sent to somebody says of itself, what is missing, and how good its stacks are ---- */
function section(title) {
	const box = element("section", "", $("recording-view"));
	element("h2", title, box);
	return box;
}

function pairs(box, list) {
	const dl = element("dl", "", box);
	for (const [title, text] of list)
		if (text !== "") {
			element("dt", title, dl);
			element("dd", text, dl);
		}
}

/* Rows with a bar each: a title, a part of the whole. */
function bars(box, list, whole) {
	const table = element("table", "", box), body = element("tbody", "", table);
	table.className = "bars";
	for (const [title, part] of list) {
		const row = element("tr", "", body), number = element("td", share(part, whole), row);
		number.className = "number bar-cell";
		number.title = part.toLocaleString("en");
		number.style.backgroundSize = (whole ? 100 * part / whole : 0).toFixed(2) + "% 100%";
		element("td", title, row);
	}
}

function describeRecording(a) {
	pairs(section(a.title), [["Command", a.command || a.target], ["Host", a.host], ["Began", a.began],
		["Duration", a.duration_s.toFixed(3) + " s"], ["Selection", a.filter === null ? "everything" : a.filter], ...a.facts]);
	const lost = section("Loss");
	if (!a.ended)
		element("p", "The last part of the recording is missing: the recorder was ended before it could write it.", lost);
	if (a.lost.length)
		pairs(lost, a.lost.map(l => [l.kind + " (" + l.hop + ")", l.count.toLocaleString("en")]));
	else if (a.ended)
		element("p", "Nothing was lost.", lost);
	if (a.notices.length) {
		const list = element("ul", "", section("Notices"));
		for (const text of a.notices)
			element("li", text, list);
	}
}

function describeStacks() {
	for (const g of COMPARED ? [] : data.graphs) {
		const box = section("Stacks: " + g.name), incomplete = g.incomplete.map(([cause, weight]) => [cause, weight]);
		element("p", amountOf(g.total, g.unit), box);
		bars(box, [["whole: from the innermost frame to the thread's start", g.complete], ...incomplete], g.total);
	}
}

/* The head: what this is, and what must not be overlooked. */
function about() {
	const a = data.about, lost = a.lost.map(l => l.count.toLocaleString("en") + " " + l.kind + " (" + l.hop + ")");
	if (!a.ended)
		lost.push("the last part of the recording");
	document.title = data.title + " - braid";
	$("title").textContent = data.title;
	note("about", [a.command || a.target, a.host, a.began, a.duration_s.toFixed(1) + " s"].filter(text => text !== "").join(" \u00b7 "));
	$("about").title = $("about").textContent;
	note("filter", a.filter === null ? "" : "Only: " + a.filter);
	note("lost", lost.length ? "Lost: " + lost.join(", ") : "");
	if (COMPARED)
		describeRecording({...COMPARED.before.about, title: "Before: " + COMPARED.before.about.title});
	describeRecording(COMPARED ? {...a, title: "After: " + a.title} : a);
	describeStacks();
}
