/* SPDX-License-Identifier: Apache-2.0 */
/* ---- the recording: what a page that is sent to somebody says of itself, what is missing, and how good its stacks are ---- */
function section(title) {
	const box = element("section", "", $("recording-view"));
	element("h2", title, box);
	return box;
}

/* Whether the recording was not at its end when the data were made. */
function grows() {
	return Boolean(data.live && data.live.growing);
}

/* Rows with a bar each: a title, a part of the whole. */
function bars(box, list, whole, unit = "") {
	const table = element("table", "", box), body = element("tbody", "", table);
	table.className = "bars";
	for (const [title, part] of list) {
		const row = element("tr", "", body);
		barCell(element("td", "", row), part, whole, unit === "" ? part.toLocaleString("en") : amountOf(part, unit));
		element("td", title, row);
	}
}

function describeRecording(a) {
	pairs(section(a.title), [["Command", a.command || a.target], ["Host", a.host], ["Began", a.began],
		["Duration", a.duration_s ? a.duration_s.toFixed(3) + " s" : "not recorded"], ["Selection", a.filter === null ? "everything" : a.filter], ...a.facts]);
	const lost = section("Loss");
	if (grows())
		element("p", "The recording was still going on when this was made.", lost);
	else if (!a.ended)
		element("p", "The last part of the recording is missing: the recorder was ended before it could write it.", lost);
	if (a.lost.length)
		pairs(lost, a.lost.map(l => [l.kind + " (" + l.hop + ")", l.count.toLocaleString("en")]));
	else if (a.ended || grows())
		element("p", "Nothing was lost.", lost);
	if (a.notices.length) {
		const list = element("ul", "", section("Notices"));
		for (const text of a.notices)
			element("li", text, list);
	}
}

function describeStacks() {
	for (const g of data.graphs.filter(one => !one.before)) {
		const box = section("Stacks: " + g.name);
		element("p", amountOf(g.total, g.unit), box);
		bars(box, [["whole: from the innermost frame to the thread's start", g.complete], ...g.incomplete], g.total);
	}
}

/* The commands that say who holds objects of a class, whose name is left out if a shell would not take it between quotes. */
function holdersOf(s) {
	return "braid heap " + (s.pid || "PID") + " --dump FILE, and then braid heap FILE --class " + (s.class.includes("'") ? "CLASS" : "'" + s.class + "'");
}

/* Sites that grew all the time, in a recording with live objects. */
function describeSuspects() {
	const box = data.leak_suspects ? section("Leak suspects") : null;
	if (!box)
		return;
	element("p", data.leak_suspects.length ? "Sites that grew in each quarter of the time since their first object; bytes and objects are estimates." : "No site grew in each quarter of the time since its first object.", box);
	if (data.leak_suspects.some(s => s.young_collections_only))
		element("p", "No collection of old objects was recorded: those that are garbage count as live until one.", box);
	for (const s of data.leak_suspects) {
		element("h3", s.class + ", " + s.site, box);
		pairs(box, [["Growth", amountOf(s.grown_bytes, "bytes") + ", " + amountOf(s.grown_bytes_per_hour, "bytes") + " per hour"],
			["Live", amountOf(s.live_bytes, "bytes") + ", " + Math.round(s.live_objects).toLocaleString("en") + " objects, after " + s.live_survived.toFixed(1) + " collections"],
			["Histograms", s.histogram_grown_bytes === null ? "" : amountOf(s.histogram_grown_bytes, "bytes") + " more of the class than in the first one"],
			["Who holds them", holdersOf(s)]]);
		frameList(box, s.frames.map(f => [f.line ? f.name + ":" + f.line : f.name, data.kinds.indexOf(f.kind)]));
	}
}

/* What is lost, as one text. */
function lossOf(a) {
	const lost = a.lost.map(l => l.count.toLocaleString("en") + " " + l.kind + " (" + l.hop + ")");
	if (!a.ended && !grows())
		lost.push("the last part of the recording");
	return lost.join(", ");
}

/* The head: what this is, and what must not be overlooked. */
function about() {
	const a = data.about, sides = COMPARED ? [["Before: ", COMPARED.before.about], ["After: ", a]] : [["", a]];
	const line = one => [one.command || one.target, one.host, one.began, one.duration_s ? one.duration_s.toFixed(1) + " s" : ""].filter(text => text !== "").join(" \u00b7 ");
	$("title").textContent = sides.map(([, one]) => one.title).join(" \u2192 ");
	document.title = $("title").textContent + " - braid";
	note("about", sides.map(([side, one]) => side + line(one)).join("\n"));
	$("about").title = $("about").textContent;
	if (COMPARED)
		note("compared", COMPARED.what + ": " + (COMPARED.differ ? COMPARED.differ.toLocaleString("en") + (COMPARED.differ === 1 ? " method differs" : " methods differ") + " by more than chance" : "no method differs by more than chance") +
			", at the " + 100 * COMPARED.level + " % level. Shares; what has not changed is the same on both sides.");
	note("filter", a.filter === null ? "" : "Only: " + a.filter);
	note("lost", sides.filter(([, one]) => lossOf(one) !== "").map(([side, one]) => side + "Lost: " + lossOf(one)).join("; "));
	$("recording-view").replaceChildren();
	sides.forEach(([side, one]) => describeRecording({...one, title: side + one.title}));
	describeSuspects();
	describeStacks();
}
