/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the page. */
globalThis.braidPage = {
	opened: null, /* ms after the navigation began */
	get data() { return data; }, state, flame, callers, callees, lines: () => lines, name: k => lineName(lines[k]), stateNumber: key => states.findIndex(s => s[0] === key), drawn: () => drawn,
	shown: () => [from, to], showTime, total: () => flame.tree ? flame.tree.total[0] : 0, picked: () => picked, place: (k, us) => [xOf(us), lineTop(k) + ROW / 2],
	segments: k => segmentsOf(lines[k].lane), draw, heat: () => heat, heatPlace, formsOf, colours: COLOURS, match: MATCH, frameColour, wideOf, samplesOf,
	/* frames by name: where each is in its canvas */
	frames: (f, name) => f.rows.flatMap((row, depth) => Array.from({length: row.length / 3}, (_, k) => row.slice(3 * k, 3 * k + 3))
		.filter(([i]) => frameName(f, i) === name).map(([i, x, wide]) => ({i, x: (x + wide / 2) * f.box.clientWidth, y: rowTop(f, depth) + ROW / 2, total: f.tree.total[i]}))),
};
if (typeof requestAnimationFrame === "function")
	requestAnimationFrame(() => setTimeout(() => { braidPage.opened = performance.now(); }));
