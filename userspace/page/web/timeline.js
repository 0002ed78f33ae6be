/* SPDX-License-Identifier: Apache-2.0 */
/* ---- the timeline: CPUs and threads; what all threads of a JVM stood for lies over their rows ---- */
const RULER = 24, SHORTEST_US = 2;
const flame = makeFlame("view", "canvas", "spacer"), {box: view, canvas, context} = flame;
let LEFT = 210, paneWidth = 1, height = 0, lineAt = -1; /* lineAt: the line that the keyboard has reached */
let begin, end, from, to, cursor = null, drawn = {ms: 0, arrows: 0, missing: 0};

function readTimes() {
	begin = data.timeline.from_us;
	end = Math.max(begin + 1, data.timeline.to_us);
	[from, to] = [begin, end];
}

/* Shows a part of the time, as near to what is asked for as there is. */
function showTime(a, b) {
	const wide = Math.min(end - begin, Math.max(SHORTEST_US, b - a));
	a = Math.max(begin, Math.min(end - wide, a));
	from = a;
	to = a + wide;
	changed(false);
	redraw();
}

function zoomTime(factor, us) {
	const wide = Math.min(end - begin, Math.max(SHORTEST_US, (to - from) * factor));
	const share = (us - from) / (to - from);
	showTime(us - wide * share, us - wide * share + wide);
}

/* The room for names. */
function sideWidth() {
	return view.clientWidth < 700 ? 96 : 210;
}

/* Clears the canvas and gives it the view's size. */
function clean() {
	paneWidth = view.clientWidth; /* the browser takes long to say it again and again */
	cleanCanvas(view, canvas, context);
}

function lay() {
	LEFT = sideWidth();
	buildLines();
	lineAt = Math.min(lineAt, lines.length - 1);
	$("empty").hidden = lines.length + bands.length > 0;
	height = lines.length * ROW + RULER;
	canvas.style.height = view.clientHeight + "px";
	$("spacer").style.height = Math.max(0, height - view.clientHeight) + "px";
	view.scrollTop = Math.min(view.scrollTop, Math.max(0, height - view.clientHeight));
	timelineLegend();
	drawTimeline();
}

function timelineLegend() {
	const theme = dark() ? 1 : 0, seen = new Set();
	$("legend").replaceChildren();
	$("legend").title = "";
	for (const line of lines)
		if (line.lane && line.lane.sums)
			line.lane.sums.forEach((ns, s) => ns > 0 && states[s][0] !== "unknown" && seen.add(s));
	for (const s of [...seen].sort((a, b) => a - b))
		legendItem(stateColour(s), states[s][1]);
	for (const title of new Set(Object.values(data.timeline.kinds)))
		if (spans.some((kind, i) => i % SPAN === 0 && data.timeline.kinds[kind] === title))
			legendItem(WAITS[title][theme], title);
	if (lines.some(line => line.lane && line.lane.sums && line.lane.sums[states.length - 1] > 0))
		legendItem("linear-gradient(transparent 5px, " + stateColour(states.length - 1) + " 5px 6px, transparent 6px)", "not known");
	if (lines.some(line => line.thread !== undefined && samplesOf(line.thread)?.at.length))
		legendItem("linear-gradient(90deg, transparent 5px, currentColor 5px 6px, transparent 6px)", "a sample");
	if (!hasLives && lines.some(line => line.thread !== undefined && !data.threads[line.thread].began && data.threads[line.thread].known_us > begin))
		legendItem("repeating-linear-gradient(135deg, currentColor 0 1px, transparent 1px 4px)", "not known yet");
	note("keys", "w s a d: zoom and move \u00b7 Ctrl+wheel: zoom \u00b7 drag: move \u00b7 drag the ruler: select \u00b7 ?: all keys");
}

function xOf(us) {
	return LEFT + (us - from) / (to - from) * (paneWidth - LEFT);
}

function usOf(x) {
	return from + Math.max(0, x - LEFT) / (paneWidth - LEFT) * (to - from);
}

function lineTop(k) {
	return RULER + k * ROW - view.scrollTop;
}

/* The numbers of the lines that can be seen. */
function shownLines() {
	const first = Math.max(0, Math.floor(view.scrollTop / ROW));
	return [first, Math.min(lines.length, first + Math.ceil((view.clientHeight - RULER) / ROW) + 1)];
}

function bar(i, y, tall) {
	const x = Math.max(LEFT, xOf(spans[i + 3])), right = Math.min(view.clientWidth, xOf(spans[i + 3] + spans[i + 4]));
	if (right < LEFT || x > view.clientWidth)
		return;
	context.fillStyle = WAITS[kindOf(i)][dark() ? 1 : 0];
	context.fillRect(x, y, Math.max(right - x, 0.5), tall);
}

/* A thin line while the thread is known to exist, hatches while nothing is known about it. */
function life(t, y, ink) {
	const known = Math.max(LEFT, xOf(t.known_us)), last = Math.min(view.clientWidth, xOf(t.ended_us ?? end));
	context.fillStyle = context.strokeStyle = ink;
	context.globalAlpha = 0.35;
	if (last > known)
		context.fillRect(known, y + ROW / 2, last - known, 1);
	if (!t.began) {
		context.beginPath();
		for (let x = LEFT; x < Math.min(known, view.clientWidth); x += 6) {
			context.moveTo(x, y + ROW - 4);
			context.lineTo(Math.min(x + 6, known), y + 4);
		}
		context.stroke();
	}
	context.globalAlpha = 1;
}

/* ---- a lane ---- */
function keyOf(lane, i) {
	if (lane.cpu !== undefined)
		return (lane.code[i] >> 1) + 1;
	return lane.code[i] & 32 ? IDLE : lane.code[i] & 31;
}

function paintBins(lane, paint) {
	const {until, shares} = binsOf(lane);
	for (let i = firstAt(until, from); i < until.length && (i ? until[i - 1] : begin) < to; i++) {
		const start = i ? until[i - 1] : begin;
		if (shares[i].length === 2 && shares[i][1] === 1)
			paint.add(shares[i][0], start, until[i]);
		else
			paint.mix(shares[i], start, until[i]);
	}
}

/* Exact segments if there are few enough to be seen, else the shares that braid has computed. */
function paintLane(lane, k) {
	const ratio = canvas.width / Math.max(1, view.clientWidth), wide = image.width - LEFT * ratio, usPerPixel = (to - from) / wide;
	const top = lineTop(k), make = faint => painter(Math.round(LEFT * ratio), image.width, from, usPerPixel, Math.max(Math.round((top + 2) * ratio),
		Math.round(RULER * ratio)), Math.round((top + ROW - 2) * ratio), stylesOf(lane, faint));
	segmentsOf(lane);
	if (lane.start_us !== undefined) { /* a life, of which nothing may be known */
		const at = us => Math.max(Math.round(LEFT * ratio), Math.round((LEFT + (us - from) / (to - from) * (paneWidth - LEFT)) * ratio)), middle = Math.round((top + ROW / 2) * ratio);
		if (top + ROW / 2 > RULER)
			fillPixels(at(lane.start_us), middle, at(lane.end_us), middle + Math.max(1, Math.round(ratio)), inkOf(stateColour(states.length - 1)));
	}
	const first = firstAt(lane.end, from), last = firstAt(lane.start, to), runs = binsOf(lane);
	const missing = lane.kept < lane.of, coarse = runs && lane.bin_ns / 1000 > 3 * usPerPixel;
	if (runs && (missing || last - first > 2 * wide)) {
		const paint = make(coarse);
		paintBins(lane, paint);
		paint.end();
		if (!coarse)
			return;
		drawn.missing += missing ? 1 : 0;
	}
	const paint = make(false);
	for (let i = first; i < last; i++)
		paint.add(keyOf(lane, i), lane.start[i], lane.end[i]);
	paint.end();
}

/* Samples as ticks at the top of a thread's lane, at most one in each column of pixels. */
function drawSamples(line, y, ink) {
	const own = line.thread === undefined ? null : samplesOf(line.thread);
	if (!own)
		return;
	context.fillStyle = ink;
	context.globalAlpha = 0.8;
	for (let i = firstAt(own.at, from), before = -1; i < own.at.length && own.at[i] <= to; i++) {
		const x = Math.round(xOf(own.at[i]));
		if (x === before)
			continue;
		context.fillRect(x, y + 1, 1, 3);
		before = x;
	}
	context.globalAlpha = 1;
}

/* What lies on a lane: below the segments of a life, or as high as the lane. */
function drawNotes(line, y) {
	let before = -1;
	for (const i of line.notes) {
		const right = Math.round(xOf(spans[i + 3] + spans[i + 4]) * 2);
		if (right === before || spans[i + 3] > to || spans[i + 3] + spans[i + 4] < from)
			continue;
		before = right;
		if (line.lane)
			bar(i, y + ROW - 4, 3);
		else
			bar(i, y + 2, ROW - 4);
	}
}

/* The names of threads in the lanes of CPUs. */
function drawRunNames(lane, y, ink) {
	context.fillStyle = ink;
	const least = (to - from) / (paneWidth - LEFT) * 30;
	for (let i = firstAt(lane.end, from), shown = 0; i < lane.start.length && lane.start[i] < to && shown < 200; i++) {
		if (lane.end[i] - lane.start[i] < least)
			continue;
		const x = Math.max(LEFT, xOf(lane.start[i])), right = Math.min(view.clientWidth, xOf(lane.end[i]));
		if (right - x > 30) {
			context.fillText(fit(context, data.threads[lane.code[i] >> 1].name, right - x - 6), x + 3, y + ROW / 2);
			shown++;
		}
	}
}

/* A span: when it was, as a bar with what it took. */
function drawExplained(e, y) {
	const x = Math.max(LEFT, xOf(e.from_us)), right = Math.min(view.clientWidth, xOf(e.to_us));
	if (right < LEFT || x > view.clientWidth)
		return;
	context.fillStyle = themeColour("--accent");
	context.fillRect(x, y + 3, Math.max(right - x, 2), ROW - 6);
	context.fillStyle = themeColour("--on-accent");
	if (right - x > 60)
		context.fillText(fit(context, amountOf(e.ns, "ns"), right - x - 8), x + 4, y + ROW / 2);
}

function drawLine(k, ink) {
	const line = lines[k], y = lineTop(k);
	context.fillStyle = ink;
	if (line.fold !== undefined) {
		context.globalAlpha = 0.06;
		context.fillRect(0, y, view.clientWidth, ROW);
		context.globalAlpha = 1;
		context.fillText((line.closed ? "\u25b8 " : "\u25be ") + line.text, 4, y + ROW / 2);
		return;
	}
	const chosen = line.thread !== undefined && String(line.thread) === state.thread;
	if (chosen) {
		context.fillStyle = themeColour("--accent");
		context.fillRect(0, y + 1, 4, ROW - 2);
	}
	context.fillText(fit(context, lineName(line), LEFT - 18), 14, y + ROW / 2);
	if (line.explained)
		drawExplained(line.explained, y);
	if (line.thread !== undefined && !line.lane)
		life(data.threads[line.thread], y, ink);
	if (line.cpu !== undefined)
		drawRunNames(line.lane, y, dark() ? ink : "#1c2026");
	drawNotes(line, y);
	drawSamples(line, y, ink);
}

/* ---- ruler, cursor and range ---- */
function timeText(us, step) {
	const digits = step >= 1e6 ? 0 : step >= 1e5 ? 1 : step >= 1e4 ? 2 : step >= 1e3 ? 3 : step >= 100 ? 4 : step >= 10 ? 5 : 6;
	return (us / 1e6).toFixed(digits) + " s";
}

function drawRuler(ink) {
	const w = view.clientWidth, least = (to - from) * 100 / (w - LEFT);
	let step = 10 ** Math.floor(Math.log10(Math.max(1, least)));
	while (step < least)
		step *= step * 2 >= least ? 2 : step * 5 >= least ? 5 : 10;
	context.fillStyle = themeColour("--panel");
	context.fillRect(0, 0, w, RULER);
	context.fillStyle = ink;
	context.fillText(LEFT < 200 ? scaled((to - from) * 1000, 1000, ["ns", "\u00b5s", "ms", "s"]) : lengthText(to - from) + " shown", 6, RULER / 2);
	for (let us = Math.ceil(from / step) * step; us < to; us += step) {
		context.globalAlpha = 0.12;
		context.fillRect(xOf(us), RULER, 1, view.clientHeight);
		context.globalAlpha = 1;
		context.fillRect(xOf(us), RULER - 7, 1, 7);
		if (xOf(us) + 60 < w)
			context.fillText(timeText(us, step), xOf(us) + 4, RULER / 2);
	}
}

function shade(a, b, colour, alpha) {
	const x = Math.max(LEFT, xOf(a)), right = Math.min(view.clientWidth, xOf(b));
	if (right <= LEFT || x >= view.clientWidth)
		return;
	context.globalAlpha = alpha;
	context.fillStyle = colour;
	context.fillRect(x, 0, Math.max(1, right - x), view.clientHeight);
	context.globalAlpha = 1;
}

function drawCursor(ink) {
	if (cursor === null || cursor < from || cursor > to)
		return;
	context.globalAlpha = 0.5;
	context.fillStyle = ink;
	context.fillRect(xOf(cursor), 0, 1, view.clientHeight);
	context.globalAlpha = 1;
}

function drawTimeline() {
	const ink = themeColour("--ink"), accent = themeColour("--accent"), began = performance.now();
	const [first, last] = shownLines();
	drawn = {ms: 0, arrows: 0, missing: 0};
	clean();
	beginPaint();
	for (let k = first; k < last; k++)
		if (lines[k].lane)
			paintLane(lines[k].lane, k);
	endPaint();
	for (let k = first; k < last; k++)
		drawLine(k, ink);
	context.globalAlpha = hasLives ? 0.25 : 0.45;
	for (const i of bands)
		bar(i, RULER, view.clientHeight);
	context.globalAlpha = 1;
	drawArrows(first, last, ink);
	drawRuler(ink);
	if (state.range)
		shade(state.range[0], state.range[1], accent, 0.15);
	if (picked)
		outline(accent);
	if (lineAt >= first && lineAt < last) {
		context.strokeStyle = accent;
		context.strokeRect(0.5, lineTop(lineAt) + 0.5, paneWidth - 1, ROW - 1);
	}
	drawCursor(ink);
	timelineNotes();
	drawn.ms = performance.now() - began;
}

/* What is not in the page, and cannot be seen at this zoom. */
function timelineNotes() {
	const out = [];
	if (drawn.missing && from === begin && to === end)
		out.push("the page has the longest intervals; shorter ones are shown as shares");
	else if (drawn.missing)
		out.push("zoomed in beyond what this page has: shorter intervals are shown as shares; braid report --html --from " + (from / 1e6).toFixed(6) +
			" --to " + (to / 1e6).toFixed(6) + " makes a page of this part");
	if (data.timeline.left_out)
		out.push(data.timeline.left_out.toLocaleString("en") + " shorter events are left out");
	if (data.lanes && data.lanes.threads_left_out)
		out.push(data.lanes.threads_left_out.toLocaleString("en") + " threads are left out");
	if (data.lanes && data.lanes.vthreads_left_out)
		out.push(countText(data.lanes.vthreads_left_out, "virtual thread") + " that did less are left out");
	note("limits", out.join(" \u00b7 "));
	$("time-all").disabled = $("time-out").disabled = from === begin && to === end;
}
