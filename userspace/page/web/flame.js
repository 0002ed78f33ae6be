/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ---- flame graphs ----
 * There are three: of the view, and of the callers and callees of a method. Each has a tree, a zoom, the frame under the
 * pointer and the one that is selected. `skip`: the number of rows at the root that are not shown.
 */
const ROW = 20, MIN_WIDTH = 0.4, FONT = '12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';

function makeFlame(id, canvas, spacer, options = {}) {
	return {box: $(id), canvas: $(canvas), spacer: $(spacer), context: $(canvas).getContext("2d"), tree: null, zoom: 0, hover: -1, focus: -1, icicle: false,
		reverse: false, skip: 0, rows: [], above: 0, height: 0, shown: 0, ...options};
}

/* The label that matches the search, by number; null: nothing is searched. */
let matchedLabel = null;

function frameName(f, i) {
	return i === 0 ? "all" : f.tree.labels[f.tree.label[i]];
}

/* The column that frames are as wide as. */
function wideOf(tree) {
	return tree.was && state.by === "before" ? tree.was : tree.total;
}

/*
 * The position of each visible frame: rows[depth] holds node, left, width in a flat list; fractions of the width. `keep`:
 * what is seen stays where it is, the root otherwise is.
 */
function layFlame(f, keep = false) {
	const before = f.icicle ? f.box.scrollTop : f.height - f.shown - f.box.scrollTop;
	const found = layOut(f.tree, f.zoom, MIN_WIDTH / Math.max(1, f.box.clientWidth), wideOf(f.tree));
	f.rows = found.rows.slice(f.skip);
	f.above = Math.max(0, found.above - f.skip);
	f.height = f.rows.length * ROW;
	f.canvas.style.height = f.box.clientHeight + "px";
	f.spacer.style.height = Math.max(0, f.height - f.box.clientHeight) + "px";
	f.shown = f.box.clientHeight;
	f.box.scrollTop = f.icicle ? (keep ? before : 0) : f.height - f.shown - (keep ? Math.max(0, before) : 0);
	drawFlame(f);
}

function rowTop(f, depth) {
	const shown = Math.max(f.height, f.box.clientHeight);
	return (f.icicle ? depth * ROW : shown - (depth + 1) * ROW) - f.box.scrollTop;
}

/* Clears a canvas and gives it its box's size. */
function cleanCanvas(box, canvas, context) {
	const ratio = devicePixelRatio || 1, w = box.clientWidth, h = box.clientHeight;
	if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
		canvas.width = Math.round(w * ratio);
		canvas.height = Math.round(h * ratio);
	}
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.clearRect(0, 0, w, h);
	context.font = FONT;
	context.textBaseline = "middle";
}

function frameColour(f, i) {
	if (i === 0)
		return NEUTRAL[dark() ? 1 : 0];
	if (f.tree.was)
		return changeColour(changeOf(f.tree.was[i], f.tree.total[i]));
	return kindColour(f.tree.kind[i]);
}

function drawFlame(f) {
	const w = f.box.clientWidth, h = f.box.clientHeight, c = f.context, theme = dark() ? 1 : 0;
	const ink = themeColour("--frame-ink"), ring = themeColour("--ink"), rings = [];
	cleanCanvas(f.box, f.canvas, c);
	f.rows.forEach((row, depth) => {
		const y = rowTop(f, depth);
		if (y > h || y + ROW < 0)
			return;
		for (let k = 0; k < row.length; k += 3) {
			const i = row[k], x = row[k + 1] * w, width = row[k + 2] * w, matched = i && matchedLabel && matchedLabel[f.tree.label[i]];
			c.globalAlpha = depth < f.above ? 0.5 : matchedLabel && !matched ? 0.4 : 1;
			c.fillStyle = matched ? MATCH[theme] : frameColour(f, i);
			c.fillRect(x, y, Math.max(width - (width > 3 ? 1 : 0), 0.3), ROW - 1);
			if (i === f.hover || i === f.focus)
				rings.push([i, x, y, width]);
			if (width > 22) {
				c.globalAlpha = depth < f.above ? 0.8 : matchedLabel && !matched ? 0.7 : 1;
				c.fillStyle = ink;
				c.fillText(fit(c, frameName(f, i), width - 9), x + 4, y + ROW / 2);
			}
		}
	});
	c.globalAlpha = 1;
	for (const [i, x, y, width] of rings) {
		c.strokeStyle = ring;
		c.lineWidth = i === f.focus ? 2 : 1;
		c.strokeRect(x + c.lineWidth / 2, y + c.lineWidth / 2, Math.max(width - 1 - c.lineWidth, 1), ROW - 1 - c.lineWidth);
	}
	c.lineWidth = 1;
}

/* The frame under the pointer; -1: none. */
function frameAt(f, event) {
	const box = f.canvas.getBoundingClientRect(), x = (event.clientX - box.left) / box.width, y = event.clientY - box.top;
	for (let depth = 0; depth < f.rows.length; depth++) {
		const top = rowTop(f, depth), row = f.rows[depth];
		for (let k = 0; y >= top && y < top + ROW && k < row.length; k += 3)
			if (x >= row[k + 1] && x < row[k + 1] + row[k + 2])
				return row[k];
	}
	return -1;
}

/* Where a frame is shown: its row and its place in the row. */
function placeOf(f, node) {
	for (let depth = 0; depth < f.rows.length; depth++)
		for (let k = 0; k < f.rows[depth].length; k += 3)
			if (f.rows[depth][k] === node)
				return {depth, k};
	return null;
}

/* The frame to which an arrow key leads: away from the root or to it, or beside. */
function neighbour(f, key) {
	const at = placeOf(f, f.focus);
	if (!at)
		return f.rows.length ? f.rows[f.above] ? f.rows[f.above][0] : f.rows[0][0] : -1;
	const row = f.rows[at.depth], left = row[at.k + 1], right = left + row[at.k + 2];
	const best = (list, good, rank) => {
		let found = -1, value = -Infinity;
		for (let k = 0; list && k < list.length; k += 3)
			if (good(list[k + 1], list[k + 1] + list[k + 2]) && rank(list, k) > value) {
				found = list[k];
				value = rank(list, k);
			}
		return found;
	};
	if (key === "ArrowLeft")
		return best(row, (a, b) => b <= left + 1e-9, (list, k) => list[k + 1]);
	if (key === "ArrowRight")
		return best(row, a => a >= right - 1e-9, (list, k) => -list[k + 1]);
	if ((key === "ArrowDown") === f.icicle)
		return best(f.rows[at.depth + 1], (a, b) => a >= left - 1e-9 && b <= right + 1e-9, (list, k) => list[k + 2]);
	return best(f.rows[at.depth - 1], (a, b) => a <= left + 1e-9 && b >= right - 1e-9, () => 0);
}

/* Scrolls so that a frame can be seen. */
function reveal(f, node) {
	const at = placeOf(f, node), top = at && rowTop(f, at.depth);
	if (at && top < 0)
		f.box.scrollTop += top;
	else if (at && top + ROW > f.box.clientHeight)
		f.box.scrollTop += top + ROW - f.box.clientHeight;
}

/* The names of a frame's stack, innermost first. */
function stackOf(f, node) {
	const names = [];
	for (let i = node; i; i = f.tree.parent[i])
		names.push(frameName(f, i));
	return f.reverse ? names.reverse() : names;
}
