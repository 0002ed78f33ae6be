// SPDX-License-Identifier: Apache-2.0
// node page.js PAGE: how long the page takes to open, what it keeps in memory, and how long the frames of its timeline take while somebody
// zooms, moves and scrolls, in a headless browser without a graphics card. Prints the figures for page.sh, one a line: NAME VALUE...
"use strict";
const {open} = require("../integration/output/browser.js");

/*
 * The times between frames in ms, while something changes before each of them: all that the browser does for a frame, drawing and
 * compositing. It shows at most 60 frames a second, so a frame takes at least 16.7 ms.
 */
const FRAMES = (count, change) => `(async () => {
	const next = () => new Promise(requestAnimationFrame), times = [], step = k => { ${change}; };
	await next();
	for (let k = 0, before = await next(); k < ${count}; k++) {
		step(k);
		const now = await next();
		times.push(now - before);
		before = now;
	}
	return times.sort((a, b) => a - b);
})()`;

const place = (list, share) => list[Math.min(list.length - 1, Math.floor(share * list.length))].toFixed(1);

/* What a person does: its name, how many frames, and what changes before each of them. */
function actions(begin, end) {
	const whole = end - begin, middle = (begin + end) / 2, pan = wide => `braidPage.showTime(${begin} + k * ${wide / 30}, ${begin} + k * ${wide / 30} + ${wide})`;
	return [
		["zoom", 240, `const wide = ${whole} * 0.9 ** (k < 120 ? k : 240 - k); braidPage.showTime(${middle} - wide / 2, ${middle} + wide / 2)`],
		["move:1/4", 120, pan(whole / 4)],
		["move:1s", 120, pan(1e6)],
		["move:10ms", 120, pan(1e4)],
		["scroll", 240, `document.getElementById("view").scrollTop = k * 150`],
	];
}

(async () => {
	const p = await open(process.argv[2], {width: 1400, height: 900, hash: "#view=timeline"}), opened = [];
	for (let k = 0; k < 3; k++) {
		await p.again("#view=timeline", "Boolean(globalThis.braidPage && braidPage.opened)");
		opened.push(await p.evaluate("braidPage.opened"));
	}
	console.log("open", opened.sort((a, b) => a - b)[1].toFixed(0));
	const [begin, end] = await p.evaluate("braidPage.shown()");
	for (const [name, count, change] of actions(begin, end)) {
		await p.evaluate(`braidPage.showTime(${begin}, ${end})`);
		await p.frame();
		const times = await p.evaluate(FRAMES(count, change));
		console.log(name, place(times, 0.5), place(times, 0.95), place(times, 1));
	}
	await p.command("HeapProfiler.collectGarbage");
	console.log("heap", ((await p.command("Runtime.getHeapUsage")).usedSize / 1048576).toFixed(0));
	p.errors.forEach(error => console.error(error));
	await p.close();
	process.exit(p.errors.length ? 1 : 0);
})().catch(error => {
	console.error(error);
	process.exit(1);
});
