// SPDX-License-Identifier: Apache-2.0
// node explanations.js PAGE EXPLAIN-JSON: drives the explanations of the program Shop as a person would. EXPLAIN-JSON is what braid explain says
// of its slowest span.
"use strict";
const assert = require("assert");
const fs = require("fs");
const {open} = require("./browser.js");

const BACKUP = "backup sleeping in Shop.nap", WAIT = "blocked on the monitor Shop$Stock in Shop.lookUp";

const rows = p => p.evaluate(`[...document.querySelectorAll("#explain-body .parts tbody tr:not(.below)")].map(row => [...row.children].map(cell => cell.textContent))`);
const pressText = async (p, within, text) => {
	const found = await p.evaluate(`(() => {
		const button = [...document.querySelectorAll(${JSON.stringify(within)})].find(one => one.textContent.startsWith(${JSON.stringify(text)}));
		button?.click();
		return Boolean(button);
	})()`);
	assert(found, "no '" + text + "' in " + within);
	await p.frame();
};

/* The page says of the slowest span what braid explain says. */
async function slowest(p, said) {
	const list = await p.evaluate(`[...document.querySelectorAll("#explain-list .stretch b")].map(b => b.textContent)`);
	assert.strictEqual(list[0], 'http.route="/cart"', list.join());
	assert(list.includes('http.route="/login"'), list.join());
	assert(list.includes("server") && list.includes("backup"), list.join());
	const text = await p.text("explain-body");
	for (const part of ['http.route="/cart" took', "span 0000000000000007", BACKUP, "for which server was " + WAIT])
		assert(text.includes(part), part + " is not in " + text);
	const page = await p.evaluate("braidPage.data.explain.list[0]"), ns = s => Math.round(s * 1e9);
	assert.strictEqual(page.ns, ns(said.time_s));
	assert.strictEqual(page.parts.reduce((sum, part) => sum + part.ns, page.others_ns), page.ns, "the parts do not add up to the whole");
	assert.strictEqual(page.parts.length + page.others, said.parts.length);
	assert.deepStrictEqual(page.parts.map(part => part.ns), said.parts.slice(0, page.parts.length).map(part => ns(part.time_s)));
	const shown = await rows(p);
	assert(shown.some(row => row[4].startsWith(BACKUP) && row[4].endsWith("for: " + WAIT)), JSON.stringify(shown));
	assert.strictEqual(shown.length, page.parts.length + (page.others ? 1 : 0));
	/* all explanations add up */
	assert(await p.evaluate("braidPage.data.explain.list.every(e => e.parts.reduce((sum, part) => sum + part.ns, e.others_ns) === e.ns)"));
}

/* A row leads to its stack, to the timeline, and to the flame graph. */
async function leads(p) {
	await pressText(p, "#explain-body .parts .opens", BACKUP);
	const stack = await p.evaluate(`[...document.querySelector("#explain-body .parts tr.below:not([hidden]) .stack").children].map(li => li.textContent)`);
	assert(stack.includes("Shop.nap") && stack.indexOf("Shop.nap") < stack.indexOf("Shop.copy"), stack.join());
	await pressText(p, "#explain-body .below .actions button", "Show the longest on the timeline");
	assert.strictEqual(await p.evaluate("braidPage.state.view"), "timeline");
	const panel = await p.text("panel");
	assert(panel.includes("backup") && panel.includes("slept") && panel.includes("Shop.copy"), panel);
	const [a, b] = await p.evaluate("braidPage.picked().time"), [from, to] = await p.evaluate("braidPage.shown()");
	assert(from <= a && b <= to, "the sleep is not shown");
	/* from there to the explanation of that thread */
	await pressText(p, "#panel-body button", "Explain this thread");
	assert.strictEqual(await p.evaluate("braidPage.state.view"), "explain");
	assert((await p.text("explain-body")).startsWith("backup took"), await p.text("explain-body"));
	await p.evaluate("history.back()");
	await p.until(`braidPage.state.view === "timeline"`);
	await p.evaluate("history.back()");
	await p.until(`braidPage.state.view === "explain" && document.getElementById("explain-body").textContent.startsWith("http")`);
	await pressText(p, "#explain-body .parts .opens", BACKUP);
	await pressText(p, "#explain-body .below .actions button", "Show in the flame graph");
	assert.strictEqual(await p.evaluate("braidPage.state.view"), "graph");
	assert(await p.evaluate("braidPage.flame.zoom > 0 && braidPage.frames(braidPage.flame, 'Shop.copy').length === 1"), "the stack is not in the flame graph");
}

/* What waits for what, as a tree: the holder's sleep is below the wait for the lock. */
async function tree(p) {
	await p.press("explain");
	const below = await p.evaluate(`[...document.querySelectorAll("#explain-body .tree > ul > li")].filter(li => li.querySelector(".opens").textContent.startsWith(${JSON.stringify(WAIT)}))
		.flatMap(li => [...li.querySelectorAll("ul .opens")].map(button => button.textContent))`);
	assert(below.some(text => text.startsWith(BACKUP)), below.join(" | "));
}

/* On the timeline, a span is a bar that leads here, and so does the name of a thread. */
async function timeline(p) {
	await p.press("timeline");
	const k = await p.evaluate("braidPage.lines().findIndex(line => line.explained)"), e = await p.evaluate("braidPage.data.explain.list[0]");
	assert.strictEqual(await p.evaluate(`braidPage.name(${k})`), 'http.route="/cart"');
	await p.key("0");
	const at = await p.evaluate(`braidPage.place(${k}, ${(e.from_us + e.to_us) / 2})`);
	await p.move(at);
	assert((await p.text("tip")).includes(BACKUP), await p.text("tip"));
	await p.click(at);
	await pressText(p, "#panel-body button", "Explain this span");
	assert.strictEqual(await p.evaluate("braidPage.state.explain"), e.span);
	await p.press("timeline");
	const server = await p.evaluate(`braidPage.lines().findIndex((line, k) => line.lane && braidPage.name(k).startsWith("server"))`);
	await p.evaluate(`document.getElementById("view").scrollTop = Math.max(0, ${server} * 20 - 100)`);
	await p.frame();
	const [, y] = await p.evaluate(`braidPage.place(${server}, 0)`);
	await p.click([30, y]);
	const panel = await p.text("panel");
	assert(panel.includes("server") && panel.includes("blocked on a monitor"), panel);
	await p.evaluate(`document.getElementById("view").focus()`);
	await p.key("e");
	assert((await p.text("explain-body")).startsWith("server took"));
	/* only that thread is chosen */
	assert(!(await p.text("explain-list")).includes("main"));
}

/* Without a mouse, and by the address. */
async function address(p) {
	await p.again("#view=explain");
	await p.evaluate(`document.getElementById("explain-body").focus()`);
	await p.key("ArrowDown");
	const text = await p.text("explain-body");
	assert(text.startsWith('http.route="/login" took'), text);
	const hash = await p.evaluate("location.hash");
	await p.again(hash);
	assert.strictEqual(await p.text("explain-body"), text);
	await p.evaluate("location.hash = '#view=explain&explain=nothing'");
	await p.until(`document.getElementById("explain-body").textContent.startsWith('http.route="/cart"')`);
	for (const [key, view] of [["1", "graph"], ["5", "explain"], ["6", "recording"]]) {
		await p.key(key);
		assert.strictEqual(await p.evaluate("braidPage.state.view"), view);
	}
}

(async () => {
	const p = await open(process.argv[2], {hash: "#view=explain", dark: Boolean(process.env.PAGE_DARK)});
	try {
		await slowest(p, JSON.parse(fs.readFileSync(process.argv[3])));
		await leads(p);
		await tree(p);
		await timeline(p);
		await address(p);
		assert.deepStrictEqual(p.errors, []);
	} finally {
		await p.close();
	}
})().catch(error => {
	console.error(error);
	process.exit(1);
});
