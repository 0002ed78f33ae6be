// SPDX-License-Identifier: Apache-2.0
// node virtual.js PAGE LANES: the lanes of the program VParks' virtual threads. LANES: as many the page may have.
"use strict";
const assert = require("assert");
const {open} = require("./browser.js");

const count = p => p.evaluate("braidPage.lines().filter(line => line.lane && line.lane.vthread !== undefined).length");

/* Many are folded, and what is left out is said. */
async function folded(p, most) {
	const fold = await p.evaluate(`braidPage.lines().findIndex(line => line.fold !== undefined && line.text.includes("virtual thread"))`);
	assert(fold >= 0 && await p.evaluate(`braidPage.lines()[${fold}].closed`) && await count(p) === 0);
	assert((await p.evaluate(`braidPage.lines()[${fold}].text`)).startsWith(most + " virtual threads"));
	assert(/[\d,]+ virtual threads that did less are left out/.test(await p.text("limits")), await p.text("limits"));
	await p.evaluate(`document.getElementById("view").scrollTop = ${fold} * 20 - 100`);
	await p.frame();
	await p.click(await p.evaluate(`braidPage.place(${fold}, 0)`));
	assert.strictEqual(await count(p), most);
}

/* A lane by its name: unmounted for its reason, on its carrier before and afterwards. */
async function lane(p) {
	await p.type("lanes", "stuck-3 ");
	const k = await p.evaluate(`braidPage.lines().findIndex(line => line.lane)`), found = await p.evaluate(`(() => {
		const lane = braidPage.segments(${k}), parked = braidPage.stateNumber("parked"), i = lane.code.findIndex(code => (code & 31) === parked);
		return {i, start: lane.start[i], end: lane.end[i], running: lane.code.some(code => (code & 31) === 0)};
	})()`);
	assert(/^stuck-3 \(#\d+\)$/.test(await p.evaluate(`braidPage.name(${k})`)));
	assert(found.i >= 0 && found.running, JSON.stringify(found));
	const at = await p.evaluate(`braidPage.place(${k}, ${(found.start + found.end) / 2})`);
	await p.move(at);
	assert(/stuck-3.*parked.*VirtualThread/.test(await p.text("tip")), await p.text("tip"));
	await p.click(at);
	const panel = await p.text("panel");
	for (const text of ["stuck-3 (#", "parked", "VParks.stuck"])
		assert(panel.includes(text), text + " is not in " + panel);
	await p.click([30, at[1]]); /* its name: all of its life */
	assert(/stuck-3.*parked/.test(await p.text("panel")), await p.text("panel"));
	await p.key("e");
	assert((await p.text("explain-body")).startsWith("stuck-3 took") && (await p.text("explain-body")).includes("parked in VParks.stuck"), await p.text("explain-body"));
}

(async () => {
	const p = await open(process.argv[2], {hash: "#view=timeline"});
	try {
		await folded(p, +process.argv[3]);
		await lane(p);
		assert.deepStrictEqual(p.errors, []);
	} finally {
		await p.close();
	}
})().catch(error => {
	console.error(error);
	process.exit(1);
});
