// SPDX-License-Identifier: Apache-2.0
// node timeline.js PAGE: drives the timeline of the program Views as a person would. Prints JSON for t_timeline.sh.
"use strict";
const assert = require("assert");
const {open} = require("./browser.js");

const CTRL = 2;

/* The line of a thread whose waiting for the monitor is in the page, and that segment. */
const FIND = `(() => {
	const lines = braidPage.lines(), monitor = braidPage.stateNumber("monitor");
	for (let k = 0; k < lines.length; k++)
		if (lines[k].lane && lines[k].thread !== undefined && lines[k].lane.cpu === undefined) {
			const lane = braidPage.segments(k), i = lane.code.findIndex((code, i) => (code & 31) === monitor && code & 64 && lane.end[i] - lane.start[i] > 5000);
			if (i >= 0 && braidPage.name(k).startsWith("wants-door"))
				return {k, start: lane.start[i], end: lane.end[i]};
		}
})()`;

async function lanes(p) {
	const names = await p.evaluate(`braidPage.lines().map((line, k) => line.cpu !== undefined ? "CPU" : line.fold !== undefined ? line.text : braidPage.name(k))`);
	assert(names.includes("CPUs") && names.includes("CPU"), names.join());
	assert(names.some(name => name.startsWith("wants-door")), names.join());
	await p.type("lanes", "wants");
	const left = await p.evaluate(`braidPage.lines().filter(line => line.thread !== undefined).map(line => braidPage.name(braidPage.lines().indexOf(line)))`);
	assert(left.length >= 1 && left.every(name => name.startsWith("wants-door")), left.join());
	await p.type("lanes", "");
}

async function zoom(p) {
	const wide = async () => p.evaluate("braidPage.shown()[1] - braidPage.shown()[0]"), whole = await wide();
	await p.key("w");
	assert(await wide() < whole, "w does not zoom");
	await p.key("d");
	assert(await p.evaluate("braidPage.shown()[0] > 0"), "d does not move");
	await p.key("0");
	assert.strictEqual(await wide(), whole);
	await p.wheel([600, 60], -300, CTRL);
	await p.until(`braidPage.shown()[1] - braidPage.shown()[0] < ${whole / 2}`);
	for (let k = 0; k < 60; k++)
		await p.evaluate("braidPage.showTime(braidPage.shown()[0], braidPage.shown()[0] + (braidPage.shown()[1] - braidPage.shown()[0]) / 2)");
	assert(await wide() < 10, "a microsecond cannot be seen: " + await wide());
	await p.key("0");
}

async function stacks(p) {
	const found = await p.evaluate(FIND), middle = (found.start + found.end) / 2;
	await p.evaluate(`document.getElementById("view").scrollTop = Math.max(0, ${found.k} * 18 - 200)`);
	await p.evaluate(`braidPage.showTime(${found.start - 3000}, ${found.end + 3000})`);
	await p.frame();
	const at = await p.evaluate(`braidPage.place(${found.k}, ${middle})`);
	await p.move(at);
	const tip = await p.text("tip");
	assert(tip.includes("wants-door") && tip.includes("blocked on a monitor") && /at \d+\.\d{6} s/.test(tip), tip);
	assert(tip.includes("on ") && tip.includes("Views.wantDoor") && tip.includes("the waker on ") && tip.includes("Views.holdDoor"), "the tip has no stacks: " + tip);
	assert(await p.evaluate("braidPage.drawn().arrows") > 0, "no arrow of a wake-up");
	await p.click(at);
	const panel = await p.text("panel");
	for (const text of ["wants-door", "blocked on a monitor", "Views$Door", "woken by", "holds-door", "Views.wantDoor", "The waker's stack", "Views.holdDoor"])
		assert(panel.includes(text), text + " is not in the panel: " + panel);
	if (process.env.SHOT)
		await p.shot(process.env.SHOT);
	await p.key("Escape");
	assert(await p.evaluate(`document.getElementById("panel").hidden`));
	await p.key("0");
}

/* Without a mouse: a line, what it did, a part of the time. */
async function keys(p) {
	const count = await p.evaluate("braidPage.lines().length");
	await p.key("ArrowDown");
	const closed = await p.evaluate("braidPage.lines()[0].closed");
	await p.key("Enter");
	assert.strictEqual(await p.evaluate("braidPage.lines()[0].closed"), !closed, "a key does not open a line");
	await p.key("Enter");
	assert.strictEqual(await p.evaluate("braidPage.lines().length"), count);
	const line = await p.evaluate("braidPage.lines().findIndex(line => line.thread !== undefined && line.lane.kept > 3)");
	for (let k = 0; k < line; k++)
		await p.key("ArrowDown");
	await p.key("Enter");
	const first = await p.evaluate("braidPage.picked().i");
	await p.key(first ? "," : ".");
	assert.notStrictEqual(await p.evaluate("braidPage.picked().i"), first);
	assert(/from\d/.test(await p.text("panel")));
	await p.key("Escape");
	await p.key("0");
	await p.key("w");
	await p.key("x");
	assert.deepStrictEqual(await p.evaluate("braidPage.state.range"), await p.evaluate("braidPage.shown()"));
	await p.key("Escape");
	assert.strictEqual(await p.evaluate("braidPage.state.range"), null);
	await p.key("0");
	/* the samples of a thread can be seen */
	assert(await p.evaluate("braidPage.lines().some(line => line.thread !== undefined && braidPage.samplesOf(line.thread).at.length > 0)"));
}

/* Drags the ruler, and looks at the flame graph. */
async function range(p) {
	const whole = await p.evaluate("braidPage.data.graphs[0].total"), box = await p.evaluate("braidPage.place(0, 0)");
	await p.drag([box[0] + 200, 10], [box[0] + 500, 10]);
	const chosen = await p.evaluate("braidPage.state.range");
	assert(chosen && chosen[0] < chosen[1], "no range");
	await p.press("flames");
	const part = await p.evaluate("braidPage.total()");
	assert(part < whole, part + " of " + whole);
	assert((await p.evaluate("location.hash")).includes("range="));
	await p.evaluate("history.back()");
	await p.until(`braidPage.state.view === "timeline"`);
	await p.evaluate("history.back()");
	await p.until("braidPage.state.range === null");
}

async function heat(p) {
	await p.press("heat");
	const most = await p.evaluate("[braidPage.heat().counts.reduce((a, b) => a + b), braidPage.heat().slice]");
	assert.strictEqual(most[0], await p.evaluate("braidPage.data.graphs[0].total"));
	const end = await p.evaluate("braidPage.shown()[1]"), from = 0.4 * end, to = 0.8 * end;
	const a = await p.evaluate(`braidPage.heatPlace(${from})`), b = await p.evaluate(`braidPage.heatPlace(${to})`);
	await p.click(a);
	await p.click(b);
	const clicked = await p.evaluate("braidPage.state.range");
	assert(clicked[0] <= from && clicked[1] >= to && clicked[1] - clicked[0] < to - from + 2.1 * most[1], clicked.join());
	await p.key("Escape");
	assert.strictEqual(await p.evaluate("braidPage.state.range"), null);
	await p.drag(a, b);
	assert.deepStrictEqual(await p.evaluate("braidPage.state.range"), clicked);
	await p.key("Escape");
	/* from a cell to another one by keys; the table of methods and the flame graph have what is in it */
	await p.evaluate(`document.getElementById("view").focus()`);
	for (const key of ["ArrowRight", "ArrowUp", "Enter", "ArrowRight", "ArrowRight", "Enter"])
		await p.key(key);
	const keyed = await p.evaluate("braidPage.state.range"), inside = await p.evaluate(`(() => {
		const h = braidPage.heat(), [a, b] = braidPage.state.range.map(us => Math.round((us - h.start) / h.slice));
		return h.counts.slice(a, b).reduce((x, y) => x + y, 0);
	})()`);
	assert(keyed && keyed[0] < keyed[1], "no range by keys");
	await p.key("1");
	assert.strictEqual(await p.evaluate("braidPage.total()"), inside);
	await p.key("2");
	const selves = await p.evaluate(`[...document.querySelectorAll("#method-rows tr")].reduce((sum, row) => sum + parseInt(row.children[0].title.replace(/,/g, ""), 10), 0)`);
	assert.strictEqual(selves, inside, "the table does not have the range");
	await p.key("4");
}

/* Everything of the address is there again in another page; t_timeline.sh knows the sum from FROM to TO µs. */
async function address(p, from, to) {
	await p.again(`#view=graph&range=${from}-${to}`);
	const total = await p.evaluate("braidPage.total()");
	await p.evaluate("location.hash = '#view=heat&range=100000.000-200000.000'");
	await p.until(`braidPage.state.view === "heat" && braidPage.state.range?.[1] === 200000`);
	/* what it cannot mean does no harm */
	await p.evaluate("location.hash = '#view=x&graph=99&thread=-1&range=5-1&time=a-b&process=%zz'");
	await p.until(`braidPage.state.view + braidPage.state.graph + braidPage.state.range === "graph0null"`);
	await p.evaluate("location.hash = '#view=constructor&range=100000.000-200000.000'");
	await p.until("braidPage.state.range?.[1] === 200000");
	assert.strictEqual(await p.evaluate("braidPage.state.view"), "graph");
	return total;
}

(async () => {
	const p = await open(process.argv[2], {hash: "#view=timeline", dark: Boolean(process.env.PAGE_DARK)});
	try {
		await lanes(p);
		await zoom(p);
		await stacks(p);
		await keys(p);
		await range(p);
		await heat(p);
		const total = await address(p, ...process.argv.slice(3, 5));
		assert.deepStrictEqual(p.errors, []);
		console.log(JSON.stringify({total}));
	} finally {
		await p.close();
	}
})().catch(error => {
	console.error(error);
	process.exit(1);
});
