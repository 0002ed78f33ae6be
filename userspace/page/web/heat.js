/* SPDX-License-Identifier: Apache-2.0 */
/* ---- the heat map: a column for each second (or so), rows for its parts, coloured by samples ---- */
const HEAT_ROWS = 50, COLUMN_SECONDS = [0.1, 1, 2, 5, 10, 30, 60, 300, 600, 3600, 86400];
let heat = null, heatFrom = null, heatCell = null; /* heatCell: the one that the keyboard has reached */

function heatColour(share) {
	if (share === 0)
		return dark() ? "#1d2127" : "#f3f4f6";
	return dark() ? hslColour(10 + 45 * share, 0.85, 0.2 + 0.5 * share) : hslColour(50 - 50 * share, 0.9, 0.88 - 0.48 * share);
}

function layHeat() {
	LEFT = 72;
	const t = timesOf(graph), chosen = data.threads.map(wanted), span = (end - begin) / 1e6, least = span / Math.max(1, (view.clientWidth - LEFT) / 3);
	const seconds = span < 5 ? 0.1 : COLUMN_SECONDS.find(s => s >= 1 && s >= least) || span, start = Math.floor(begin / 1e6 / seconds) * seconds * 1e6;
	heat = {columns: Math.max(1, Math.ceil((end - start) / 1e6 / seconds)), seconds, start, slice: seconds * 1e6 / HEAT_ROWS, most: 0};
	heat.counts = new Float64Array(heat.columns * HEAT_ROWS);
	for (let i = 0; t && i < t.at.length; i++) {
		const cell = Math.floor((t.at[i] - start) / heat.slice);
		if (chosen[t.thread[i]] && cell >= 0 && cell < heat.counts.length)
			heat.counts[cell] += heatUnit() === "events" ? 1 : t.weight[i];
	}
	heat.most = heat.counts.reduce((a, b) => Math.max(a, b), 0);
	height = view.clientHeight;
	canvas.style.height = height + "px";
	$("spacer").style.height = "0px";
	view.scrollTop = 0;
	$("empty").hidden = Boolean(t);
	note("limits", t && t.step > 1 ? "one sample is shown for about every " + amount(t.step) : "");
	note("keys", "Drag, click twice, or arrows and Enter: select a part of the time");
	$("legend").replaceChildren();
	for (const count of new Set([0, 0.25, 0.5, 0.75, 1].map(share => Math.ceil(share * heat.most))))
		legendItem(heatColour(heat.most ? count / heat.most : 0), count.toLocaleString("en"));
	$("legend").append(heatUnit() + " in " + lengthText(heat.slice));
	drawHeat();
}

function heatGeometry() {
	const w = Math.min(64, Math.max(1, (view.clientWidth - LEFT - 10) / heat.columns)), top = RULER + 8;
	return {w, top, tall: Math.max(2, (view.clientHeight - top - 12) / HEAT_ROWS)};
}

function drawHeat() {
	const ink = themeColour("--ink"), {w, top, tall} = heatGeometry();
	const ratio = canvas.width / Math.max(1, view.clientWidth), gap = w * ratio >= 4 ? 1 : 0;
	clean();
	beginPaint();
	for (let cell = 0; cell < heat.counts.length; cell++) {
		const column = Math.floor(cell / HEAT_ROWS), row = HEAT_ROWS - 1 - cell % HEAT_ROWS, us = heat.start + cell * heat.slice;
		if (us + heat.slice <= begin || us >= end)
			continue;
		const share = heat.most ? heat.counts[cell] / heat.most : 0, inside = state.range && us + heat.slice > state.range[0] && us < state.range[1];
		const ink = inkOf(heatColour(share)), left = Math.round((LEFT + column * w) * ratio);
		fillPixels(left, Math.round((top + row * tall) * ratio), Math.max(left + 1, Math.round((LEFT + (column + 1) * w) * ratio) - gap),
			Math.round((top + (row + 1) * tall) * ratio) - gap, state.range && !inside ? (ink & 0x00ffffff | 0x50000000) >>> 0 : ink);
	}
	endPaint();
	context.fillStyle = ink;
	const every = Math.max(1, Math.ceil(60 / w));
	for (let column = 0; column < heat.columns; column += every)
		context.fillText(timeText(heat.start + column * heat.seconds * 1e6, heat.seconds * 1e6), LEFT + column * w, RULER / 2);
	for (let row = 0; row <= HEAT_ROWS; row += 10)
		context.fillText("+ " + (row * heat.slice / 1e6).toFixed(heat.seconds < 1 ? 2 : heat.seconds < 10 ? 1 : 0) + " s", LEFT - 60, top + (HEAT_ROWS - row) * tall);
	if (heatCell !== null) {
		const [x, y] = heatPlace(heat.start + heatCell * heat.slice);
		context.strokeStyle = ink;
		context.lineWidth = 2;
		context.strokeRect(x - w / 2, y - tall / 2, w, tall);
		context.lineWidth = 1;
	}
}

/* The time at a place, at the beginning of its cell. Null: beside the map. */
function heatAt(x, y) {
	const {w, top, tall} = heatGeometry(), column = Math.floor((x - LEFT) / w), row = HEAT_ROWS - 1 - Math.floor((y - top) / tall);
	if (column < 0 || column >= heat.columns || row < 0 || row >= HEAT_ROWS)
		return null;
	return heat.start + (column * HEAT_ROWS + row) * heat.slice;
}

function heatRange(a, b) {
	return [Math.max(begin, Math.min(a, b)), Math.min(end, Math.max(a, b) + heat.slice)];
}

/* A click begins a range, the next one ends it; a drag does both. */
function heatDown(x, y) {
	const us = heatAt(x, y);
	if (us === null)
		return;
	if (heatFrom !== null) {
		selectRange(heatRange(heatFrom.us, us));
		heatFrom = null;
	} else {
		heatFrom = {us, moved: false, down: true};
	}
}

function heatMove(event, x, y) {
	const us = heatAt(x, y);
	canvas.style.cursor = us === null ? "default" : "crosshair";
	$("tip").hidden = us === null;
	if (us === null)
		return;
	if (heatFrom) {
		heatFrom.moved ||= us !== heatFrom.us;
		state.range = heatRange(heatFrom.us, us);
		redraw();
	}
	showTip(exactTime(us) + " on, " + lengthText(heat.slice), [heatText(us),
		heatFrom ? "to end of range" : "click or drag to select"], event);
}

function heatUp(x, y) {
	const us = heatAt(x, y);
	if (!heatFrom || !heatFrom.down)
		return;
	heatFrom.down = false;
	if (heatFrom.moved) {
		selectRange(us === null ? state.range : heatRange(heatFrom.us, us));
		heatFrom = null;
	}
}

/* Where a time is on the canvas. */
function heatPlace(us) {
	const {w, top, tall} = heatGeometry(), cell = Math.floor((us - heat.start) / heat.slice);
	return [LEFT + (Math.floor(cell / HEAT_ROWS) + 0.5) * w, top + (HEAT_ROWS - 0.5 - cell % HEAT_ROWS) * tall];
}

/* What is counted: times count as events. */
function heatUnit() {
	return graph.unit === "bytes" || graph.unit === "samples" ? graph.unit : "events";
}

/* What a cell has, as text. */
function heatText(us) {
	const count = heat.counts[Math.round((us - heat.start) / heat.slice)];
	return count.toLocaleString("en") + " " + heatUnit();
}

/* True: the key has a meaning. Arrows go to a cell, up is later; Enter begins a range and ends it. */
function keyHeat(event) {
	const step = {ArrowUp: 1, ArrowDown: -1, ArrowRight: HEAT_ROWS, ArrowLeft: -HEAT_ROWS}[event.key];
	if (event.key === "Enter" && heatCell !== null) {
		heatDown(...heatPlace(heat.start + heatCell * heat.slice));
		if (heatFrom)
			heatFrom.down = false;
	} else if (step) {
		const first = Math.floor((begin - heat.start) / heat.slice), last = Math.ceil((end - heat.start) / heat.slice) - 1;
		heatCell = heatCell === null ? first : Math.max(first, Math.min(last, heatCell + step));
		const us = heat.start + heatCell * heat.slice;
		if (heatFrom)
			state.range = heatRange(heatFrom.us, us);
		$("matched").textContent = exactTime(us) + ": " + heatText(us);
		redraw();
	} else {
		return false;
	}
	return true;
}
