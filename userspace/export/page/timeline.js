/* SPDX-License-Identifier: Apache-2.0 */
/* ---- the timeline: a row for each thread that waited; what all threads stood for lies over their rows ---- */
const spans = data.timeline.spans, SPAN = 5, LEFT = 190;
const isOfAll = kind => kind === "GC pauses" || kind === "Safepoints";
const begin = data.timeline.from_us, end = Math.max(begin + 1, data.timeline.to_us);
let lanes = [], bands = [], from = begin, to = end, dragged = null;

function resetRange() {
	from = begin;
	to = end;
}

function kindOf(i) {
	return data.timeline.kinds[spans[i]];
}

function lay() {
	const byThread = new Map();
	bands = [];
	for (let i = 0; i < spans.length; i += SPAN) {
		if (isOfAll(kindOf(i))) {
			if (state.process === "" || String(spans[i + 1]) === state.process)
				bands.push(i);
		} else if (wanted(data.threads[spans[i + 1]])) {
			if (!byThread.has(spans[i + 1]))
				byThread.set(spans[i + 1], []);
			byThread.get(spans[i + 1]).push(i);
		}
	}
	lanes = [...byThread].sort((a, b) => a[0] - b[0]).map(([thread, list]) => ({thread, list}));
	$("empty").hidden = lanes.length + bands.length > 0;
	height = (lanes.length + 1) * ROW;
	canvas.style.height = view.clientHeight + "px";
	$("spacer").style.height = Math.max(0, height - view.clientHeight) + "px";
	view.scrollTop = 0;
	$("reset").disabled = from === begin && to === end;
	$("matched").textContent = data.timeline.left_out ? data.timeline.left_out.toLocaleString("en") + " shorter ones are left out" : "";
	$("legend").replaceChildren();
	for (const title of new Set(Object.values(data.timeline.kinds)))
		legendItem(WAITS[title][dark() ? 1 : 0], title);
	if (lanes.some(lane => !data.threads[lane.thread].began && data.threads[lane.thread].known_us > begin))
		legendItem("repeating-linear-gradient(135deg, currentColor 0 1px, transparent 1px 4px)", "not known yet");
	drawTimeline();
}

function xOf(us) {
	return LEFT + (us - from) / (to - from) * (view.clientWidth - LEFT);
}

function usOf(x) {
	return from + Math.max(0, x - LEFT) / (view.clientWidth - LEFT) * (to - from);
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

function drawTimeline() {
	const w = view.clientWidth, h = view.clientHeight, style = getComputedStyle(document.documentElement);
	const ink = style.getPropertyValue("--ink").trim();
	clean();
	lanes.forEach((lane, k) => {
		const y = (k + 1) * ROW - view.scrollTop;
		if (y > h || y + ROW < 0)
			return;
		const t = data.threads[lane.thread];
		context.fillStyle = ink;
		context.fillText(fit(t.name + " (" + t.tid + ")", LEFT - 10), 4, y + ROW / 2);
		life(t, y, ink);
		for (const i of lane.list)
			bar(i, y + 2, ROW - 4);
	});
	context.globalAlpha = 0.45;
	for (const i of bands)
		bar(i, ROW, h);
	context.globalAlpha = 1;
	context.fillStyle = style.getPropertyValue("--panel");
	context.fillRect(0, 0, w, ROW);
	context.fillStyle = ink;
	for (let k = 0; k < 8; k++) {
		const us = from + (to - from) * k / 8;
		context.fillText("| " + (us / 1e6).toFixed(to - from > 8e6 ? 1 : 4) + " s", xOf(us), ROW / 2);
	}
	if (dragged && dragged.to !== undefined) {
		context.globalAlpha = 0.2;
		context.fillRect(Math.min(dragged.from, dragged.to), ROW, Math.abs(dragged.to - dragged.from), h);
		context.globalAlpha = 1;
	}
}

function spanAt(x, y) {
	const us = usOf(x), slack = (to - from) / view.clientWidth * 2, lane = lanes[Math.floor((y + view.scrollTop) / ROW) - 1];
	const covers = i => us >= spans[i + 3] - slack && us <= spans[i + 3] + spans[i + 4] + slack;
	const found = x > LEFT && y > ROW && ((lane ? lane.list.find(covers) : undefined) ?? bands.find(covers));
	return typeof found === "number" ? found : -1;
}

function tipTimeline(event) {
	const box = canvas.getBoundingClientRect(), i = spanAt(event.clientX - box.left, event.clientY - box.top);
	if (dragged) {
		dragged.to = event.clientX - box.left;
		drawTimeline();
	}
	$("tip").hidden = i < 0;
	canvas.style.cursor = "crosshair";
	if (i < 0)
		return;
	$("tip-name").textContent = data.timeline.names[spans[i + 2]] || kindOf(i);
	$("tip-kind").textContent = kindOf(i);
	$("tip-total").textContent = scaled(spans[i + 4], 1000, ["\u00b5s", "ms", "s"]) + " from " + (spans[i + 3] / 1e6).toFixed(6) + " s on";
	$("tip-self").textContent = isOfAll(kindOf(i)) ? "pid " + spans[i + 1] : data.threads[spans[i + 1]].name;
	placeTip(event);
}

/* Dragging selects a part of the time. */
function endDrag() {
	if (dragged && dragged.to !== undefined && Math.abs(dragged.to - dragged.from) > 3)
		[from, to] = [usOf(Math.min(dragged.from, dragged.to)), usOf(Math.max(dragged.from, dragged.to))];
	dragged = null;
	$("reset").disabled = from === begin && to === end;
	drawTimeline();
}
