/* SPDX-License-Identifier: Apache-2.0 */
/* ---- who woke whom: an arrow from the waker's lane to the woken one's, if there are few enough to be seen ---- */
const ARROWS_MAX = 250, WOKEN = 64;

/* The woken segments that can be seen: line and index in turn. Null: too many. */
function wakings(first, last) {
	const found = [];
	for (let k = first; k < last; k++) {
		const lane = lines[k].lane;
		if (!lane || lane.cpu !== undefined)
			continue;
		const until = firstAt(lane.start, to), start = firstAt(lane.end, from);
		if (until - start > 20 * ARROWS_MAX)
			return null;
		for (let i = start; i < until; i++)
			if (lane.code[i] & WOKEN && lane.end[i] <= to && found.push(k, i) > 2 * ARROWS_MAX)
				return null;
	}
	return found;
}

function drawArrows(first, last, ink) {
	if (!hasLives)
		return;
	const found = wakings(first, last), lineOf = new Map();
	if (!found)
		return;
	lines.forEach((line, k) => line.thread !== undefined && lineOf.set(line.thread, k));
	context.strokeStyle = context.fillStyle = ink;
	context.globalAlpha = 0.75;
	for (let n = 0; n < found.length; n += 2) {
		const lane = lines[found[n]].lane, waker = detailOf(lane.detail[found[n + 1]]).waker;
		if (waker === null || !lineOf.has(waker) || lineOf.get(waker) === found[n])
			continue;
		arrow(xOf(lane.end[found[n + 1]]), lineTop(lineOf.get(waker)) + ROW / 2, lineTop(found[n]) + ROW / 2);
		drawn.arrows++;
	}
	context.globalAlpha = 1;
}

function arrow(x, y, toY) {
	const down = toY > y ? 1 : -1;
	context.beginPath();
	context.moveTo(x, y);
	context.lineTo(x, toY - down * 4);
	context.moveTo(x - 3, toY - down * 6);
	context.lineTo(x, toY - down * 1);
	context.lineTo(x + 3, toY - down * 6);
	context.stroke();
	context.fillRect(x - 2, y - 2, 4, 4);
}
