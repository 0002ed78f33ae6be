// SPDX-License-Identifier: Apache-2.0
// node live.js ADDRESS PID: the page of a recording that grows, in a browser: what is chosen stays when newer data come. PID's end is the
// recording's.
"use strict";
const assert = require("assert");
const {open} = require("./browser.js");

const generation = p => p.evaluate("braidPage.data.live.generation");

/* Newer data are shown. */
async function grows(p) {
	const before = await generation(p), total = await p.evaluate("braidPage.data.graphs[0].total");
	await p.until(`braidPage.data.live.generation > ${before}`);
	assert((await p.evaluate("braidPage.data.graphs[0].total")) >= total);
}

(async () => {
	const [address, pid] = process.argv.slice(2), p = await open();
	try {
		await p.load(address);
		await p.until(`document.getElementById("live-mark").textContent === "Live"`);
		assert(await p.evaluate(`document.getElementById("lost").hidden`), "a recording that goes on has lost nothing");

		/* zoom, search and what is selected; a frame stays where it is in a pause */
		await p.until(`braidPage.frames(braidPage.flame, "Worker.spin").length > 0`);
		await p.press("live-pause");
		const [spin] = await p.evaluate(`braidPage.frames(braidPage.flame, "Worker.spin")`);
		await p.click([spin.x, spin.y]);
		await p.press("live-pause");
		await p.type("search", "gamma");
		const zoomed = () => p.evaluate(`braidPage.flame.tree.labels[braidPage.flame.tree.label[braidPage.flame.zoom]]`);
		assert.strictEqual(await zoomed(), "Worker.spin");
		await grows(p);
		assert.strictEqual(await zoomed(), "Worker.spin", "the zoom is lost");
		assert.strictEqual(await p.text("detail-name"), "Worker.spin", "the selection is lost");
		assert((await p.text("matched")).startsWith("1 name"), "the search is lost");
		assert((await p.evaluate("location.hash")).includes("zoom="));
		if (process.env.PAGE_SHOT)
			await p.shot(process.env.PAGE_SHOT + "-zoom.png");

		/* the timeline: a part of the time, and a thread; and the last seconds */
		const choose = (id, begins) => p.evaluate(`(() => { const f = document.getElementById("${id}"); f.value = [...f.options].find(o => o.textContent.startsWith("${begins}")).value; f.dispatchEvent(new Event("change")); })()`);
		await p.press("timeline");
		await p.until(`[...document.getElementById("thread").options].some(o => o.textContent.startsWith("old-1"))`);
		await choose("thread", "old-1");
		await p.evaluate("braidPage.showTime(100000, 400000)");
		await grows(p);
		assert.deepStrictEqual(await p.evaluate("braidPage.shown()"), [100000, 400000], "the part of the time is lost");
		assert(await p.evaluate(`document.getElementById("thread").selectedOptions[0].textContent.startsWith("old-1")`), "the thread is lost");
		await choose("thread", "All");
		await choose("live-part", "The last 10 s");
		await p.until(`braidPage.data.about.filter !== null || braidPage.data.about.duration_s <= 10`);
		assert((await p.evaluate("location.hash")).includes("last=10"));
		if (process.env.PAGE_SHOT)
			await p.shot(process.env.PAGE_SHOT + "-timeline.png");

		/* a pause: the state goes on, the data do not */
		await p.press("live-pause");
		const held = await generation(p), size = await p.text("live-text");
		await p.until(`document.getElementById("live-text").textContent !== ${JSON.stringify(size)} && document.getElementById("live-mark").textContent === "Paused"`);
		assert.strictEqual(await generation(p), held, "it goes on in a pause");

		/* the end */
		process.kill(+pid, "SIGINT");
		await p.until(`document.getElementById("live-mark").textContent.startsWith("No connection")`);
		assert((await p.evaluate("braidPage.lines().length")) > 0, "what was there stays");
		assert.deepStrictEqual(p.errors, []);
	} finally {
		await p.close();
	}
})().catch(error => {
	console.error(error);
	process.exit(1);
});
