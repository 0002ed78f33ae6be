// SPDX-License-Identifier: Apache-2.0
// node changes.js PAGE DIFF: the page of two recordings of Rounds, in the second of which `changed` takes longer; DIFF is the
// same as JSON.
"use strict";
const assert = require("assert");
const fs = require("fs");
const {open} = require("./browser.js");

/* What a frame has before and after, its colour, and how wide it is. */
const FRAME = name => `(() => {
	const f = braidPage.flame, [at] = braidPage.frames(f, ${JSON.stringify(name)}), g = braidPage.flame.tree;
	return at && {was: g.was[at.i], is: g.total[at.i], colour: braidPage.frameColour(f, at.i).match(/\\d+/g).map(Number), x: at.x, y: at.y, wide: braidPage.wideOf(g)[at.i] / braidPage.wideOf(g)[0]};
})()`;

(async () => {
	const p = await open(process.argv[2]), diff = JSON.parse(fs.readFileSync(process.argv[3], "utf8")), row = diff.rows.find(r => r.method === "Rounds.changed");
	try {
		const changed = await p.evaluate(FRAME("Rounds.changed"));
		assert(changed.is > changed.was && changed.colour[0] > changed.colour[2] + 40, "it weighs more, and is red: " + JSON.stringify(changed));
		await p.move([changed.x, changed.y]);
		assert(/→.*\(\+\d/.test(await p.text("tip")));
		/* the other side's widths, by the address as well */
		await p.press("by-before");
		const before = await p.evaluate(FRAME("Rounds.changed"));
		assert(before.wide < changed.wide && (await p.evaluate("location.hash")).includes("by=before"), JSON.stringify([before.wide, changed.wide]));
		await p.evaluate("history.back()");
		await p.until(`${FRAME("Rounds.changed")}?.wide === ${changed.wide}`);
		/* reversed, the sums are the same */
		const sums = await p.evaluate("[braidPage.flame.tree.was[0], braidPage.flame.tree.total[0]]");
		await p.press("reverse");
		assert.deepStrictEqual(await p.evaluate("[braidPage.flame.tree.was[0], braidPage.flame.tree.total[0]]"), sums);
		/* the table says what braid diff says */
		await p.key("2");
		const cells = await p.evaluate(`(row => row && [...row.children].map(cell => cell.textContent))([...document.querySelectorAll("#method-rows tr")].find(row => row.dataset.name === "Rounds.changed"))`);
		for (const [cell, value] of [[cells[1], row.before], [cells[2], row.after]])
			assert(Math.abs(parseFloat(cell) - 100 * value) < 0.02, cell + " is not " + value);
		assert(cells[3].startsWith("●") === row.differs && row.differs, cells[3]);
		assert((await p.text("compared")).includes("by more than chance"));
		await p.key("3");
		const facts = await p.text("recording-view");
		assert(facts.includes("Before: 1.trace") && facts.includes("After: 3.trace"), facts);
		assert.deepStrictEqual(p.errors, []);
	} finally {
		await p.close();
	}
})().catch(error => {
	console.error(error);
	process.exit(1);
});
