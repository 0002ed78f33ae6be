// SPDX-License-Identifier: Apache-2.0
// node frames.js PAGE: how long the page takes until its flame graph can be seen, and what somebody does with it.
"use strict";
const {open} = require("../integration/output/browser.js");

const TAKES = action => `(async () => {
	const began = performance.now();
	${action};
	await new Promise(done => requestAnimationFrame(() => setTimeout(done)));
	return performance.now() - began;
})()`;
const CLICK = id => `document.getElementById("${id}").click()`;
const SEARCH = text => `(() => { const f = document.getElementById("search"); f.value = "${text}"; f.dispatchEvent(new Event("input")); })()`;

(async () => {
	const p = await open(process.argv[2]), opened = [];
	const actions = [["reversed", CLICK("reverse")], ["back", CLICK("reverse")], ["by thread", CLICK("threads")], ["back", CLICK("threads")], ["recursion folded", CLICK("recursion")],
		["search", SEARCH("handle1.*7$")], ["methods", SEARCH("") + ";" + CLICK("methods")]];
	for (let k = 0; k < 5; k++) {
		await p.again("", "Boolean(globalThis.braidPage && braidPage.opened)");
		opened.push(await p.evaluate("braidPage.opened"));
	}
	opened.sort((a, b) => a - b);
	console.log("opened, ms (median, longest of 5)".padEnd(36), opened[2].toFixed(0), opened[4].toFixed(0));
	for (const [name, action] of actions)
		console.log((name + ", ms").padEnd(36), (await p.evaluate(TAKES(action))).toFixed(0));
	p.errors.forEach(error => console.log(error));
	await p.close();
})().catch(error => {
	console.error(error);
	process.exit(1);
});
