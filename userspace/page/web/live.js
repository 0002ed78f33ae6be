/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ---- a recording that grows ----
 * The page asks its server for the state, and for newer data, which take the place of the old ones. What is chosen, zoomed to, selected
 * and scrolled to stays.
 */
const POLL_MS = 1000, REST = 5; /* times as long as it took to adopt data, no others are adopted */
const LIVE_PARTS = [["", "Since the start"], ["10", "The last 10 s"], ["60", "The last minute"], ["300", "The last 5 minutes"], ["1800", "The last 30 minutes"]];
let paused = false, shownPart = "", restUntil = 0, asking = 0;

/* ---- what stays ---- */

/* Where the frames of a flame graph are that are selected and zoomed to, and how far it is scrolled from its root. */
function flamePlace(f) {
	const path = node => f.tree && node > 0 ? pathOf(f.tree, node) : null;
	return {zoom: path(f.zoom), focus: active === f ? path(f.focus) : null, scroll: f.icicle ? f.box.scrollTop : f.height - f.shown - f.box.scrollTop};
}

/* The node at the end of a path; -1: there is none now. */
function wholePath(tree, path) {
	const node = path && tree ? nodeOf(tree, path) : 0;
	return node && pathOf(tree, node).length === path.length ? node : -1;
}

function putFlame(f, place) {
	if (!f.tree)
		return;
	const zoom = f === flame ? f.zoom : wholePath(f.tree, place.zoom), focus = wholePath(f.tree, place.focus);
	if (f !== flame && zoom > 0) {
		f.zoom = zoom;
		layFlame(f);
	}
	if (focus > 0)
		selectFrame(f, focus);
	f.box.scrollTop = f.icicle ? place.scroll : f.height - f.shown - place.scroll;
	drawFlame(f);
}

/* What a line of the timeline is of, whatever its number is now. */
function lineKey(line) {
	return !line ? null : line.fold !== undefined ? "fold " + line.fold : line.cpu !== undefined ? "cpu " + line.cpu : line.explained ? "span " + line.explained.key : line.lane && line.lane.vthread !== undefined ? "virtual " + line.lane.vthread : "thread " + threadKeys()[line.thread];
}

function keepPlaces() {
	const segment = picked && picked.i >= 0 && !picked.isSpan ? {key: lineKey(picked.line), start: picked.line.lane.start[picked.i]} : null;
	return {flames: state.view === "graph" ? [[flame, flamePlace(flame)]] : state.view === "methods" ? [callers, callees].map(f => [f, flamePlace(f)]) : [],
		segment, lineAt: lineKey(lines[lineAt]), scrolled: ["view", "recording-view", "explain-body"].map(id => [id, $(id).scrollTop]), table: $("methods-view").firstElementChild.scrollTop,
		shownRows, focused: $("method-rows").contains(document.activeElement)};
}

/* The segment that the panel shows, in the new lanes; without it, the panel is closed. */
function putSegment(segment) {
	const line = segment && lines.find(one => one.lane && lineKey(one) === segment.key), lane = line && segmentsOf(line.lane);
	const i = lane ? firstAt(lane.start, segment.start - 0.2) : -1;
	picked = lane && i < lane.start.length && Math.abs(lane.start[i] - segment.start) < 0.5 ? {line, i, isSpan: false} : null;
	$("panel").hidden = state.view !== "timeline" || !picked;
}

function putPlaces(places) {
	lineAt = places.lineAt === null ? -1 : lines.findIndex(line => lineKey(line) === places.lineAt);
	putSegment(places.segment);
	if (state.view === "methods" && places.shownRows > shownRows) {
		shownRows = places.shownRows;
		fillTable();
	}
	if (places.focused)
		markRow(true);
	$("methods-view").firstElementChild.scrollTop = places.table;
	if (state.view !== "graph")
		places.scrolled.forEach(([id, top]) => { $(id).scrollTop = top; });
	places.flames.forEach(([f, place]) => putFlame(f, place));
	draw();
}

/* Newer data take the place of those that are shown. */
function adopt(newer) {
	const text = hashText(), places = keepPlaces();
	picked = null;
	data = joinLabels(newer);
	readData();
	readHash(text);
	putPlaces(places);
	writeHash(false);
}

/* ---- the server ---- */
async function fetched(name) {
	const response = await fetch(name + (state.last === "" ? "" : "?last=" + state.last), {cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer"});
	if (!response.ok)
		throw new Error(name + ": " + response.status);
	return response.json();
}

/* Nothing changes under a hand. */
function isBusy() {
	return Boolean(dragged || (heatFrom && heatFrom.down) || !$("help").hidden || document.activeElement?.tagName === "SELECT");
}

function isNewer(now) {
	return now.generation > 0 && (state.last !== shownPart || (now.generation !== data.live.generation && !paused && performance.now() >= restUntil && !isBusy()));
}

function describeLive(now) {
	const kind = !now ? "gone" : !now.growing ? "over" : paused ? "paused" : "on", whole = LIVE_PARTS[0];
	const texts = {gone: "No connection: this is the last state", over: "Ended", paused: "Paused", on: "Live"};
	$("live").dataset.live = kind;
	if ($("live-mark").textContent !== texts[kind])
		$("live-mark").textContent = texts[kind];
	$("live-pause").hidden = kind === "over" || kind === "gone";
	if (!now)
		return;
	note("live-text", data.about.duration_s.toFixed(1) + " s \u00b7 " + amountOf(now.bytes, "bytes") + (now.error === "" ? "" : " \u00b7 " + now.error));
	whole[1] = now.most_s > 0 ? "The last " + lengthOf(now.most_s) + ": the recording is long" : "Since the start";
	if ($("live-part").firstElementChild.textContent !== whole[1])
		$("live-part").firstElementChild.textContent = whole[1];
}

function lengthOf(seconds) {
	return seconds < 60 ? seconds + " s" : seconds / 60 + (seconds === 60 ? " minute" : " minutes");
}

async function look() {
	const now = await fetched("state").catch(() => null), part = state.last;
	const newer = now && isNewer(now) ? await fetched("data").catch(() => null) : null;
	if (newer && part === state.last && isNewer(now)) { // not if a pause or a hand came meanwhile
		const began = performance.now();
		adopt(newer);
		shownPart = part;
		restUntil = performance.now() + REST * (performance.now() - began);
	}
	describeLive(now);
	return now;
}

/* Asks again and again, while somebody sees the page, until nothing will come any more. */
async function follow() {
	const turn = ++asking;
	while (turn === asking && !document.hidden) {
		const now = await look();
		if (now && !now.growing && !data.live.growing && state.last === shownPart && now.generation === data.live.generation)
			return;
		await new Promise(done => setTimeout(done, POLL_MS));
	}
}

function pause() {
	paused = !paused;
	pressed("live-pause", paused);
	follow();
}

/* The part that the address names is what the list shows, and what is asked for. */
function readPart() {
	if (!LIVE_PARTS.some(([seconds]) => seconds === state.last))
		state.last = "";
	$("live-part").value = state.last;
	$("live-page").setAttribute("href", "page.html" + (state.last === "" ? "" : "?last=" + state.last));
	follow();
}

function choosePart(seconds) {
	state.last = seconds;
	$("live-part").blur();
	changed(true);
	readPart();
}

LIVE_PARTS.forEach(([seconds, text]) => option($("live-part"), seconds, text));
$("live-part").addEventListener("change", event => choosePart(event.target.value));
$("live-pause").addEventListener("click", pause);
addEventListener("keydown", event => {
	if (event.key === "p" && !event.ctrlKey && !event.metaKey && !event.altKey && !["INPUT", "SELECT", "TEXTAREA"].includes(document.activeElement?.tagName))
		pause();
});
addEventListener("visibilitychange", follow);
addEventListener("popstate", readPart);
readPart();
