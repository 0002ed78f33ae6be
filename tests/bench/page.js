// SPDX-License-Identifier: Apache-2.0
// node page.js PAGE: how long frames of the page's timeline take, in a headless browser without a graphics card.
"use strict";
const {open} = require("../integration/output/browser.js");

const DRAW = `(() => {
	const times = [];
	for (let k = 0; k < 21; k++) {
		const began = performance.now();
		braidPage.draw();
		times.push(performance.now() - began);
	}
	return times.sort((a, b) => a - b);
})()`;

(async () => {
	const p = await open(process.argv[2], {hash: "#view=timeline"}), [begin, end] = await p.evaluate("braidPage.shown()");
	console.log("seconds shown  median ms  longest ms");
	for (let wide = end - begin; wide > 100; wide /= 10) {
		await p.evaluate(`braidPage.showTime(${begin + (end - begin) / 3}, ${begin + (end - begin) / 3 + wide})`);
		await p.frame();
		const times = await p.evaluate(DRAW);
		console.log([(wide / 1e6).toFixed(5).padStart(13), times[10].toFixed(1).padStart(9), times[20].toFixed(1).padStart(10)].join("  "));
	}
	await p.close();
})().catch(error => {
	console.error(error);
	process.exit(1);
});
