// SPDX-License-Identifier: Apache-2.0
// node flames.js PAGE REPORT: drives the flame graph and the table of methods of the sample as a person would; REPORT is the
// same trace's report as JSON.
"use strict";
const assert = require("assert");
const fs = require("fs");
const {open} = require("./browser.js");

const frames = (p, name, flame = "flame") => p.evaluate(`braidPage.frames(braidPage.${flame}, ${JSON.stringify(name)})`);
const names = (p, flame = "flame") => p.evaluate(`braidPage.${flame}.rows.flatMap(row => row.filter((_, k) => k % 3 === 0)).map(i => i ? braidPage.${flame}.tree.labels[braidPage.${flame}.tree.label[i]] : "all")`);
const hash = p => p.evaluate("location.hash");

async function back(p, expression) {
	await p.evaluate("history.back()");
	await p.until(expression);
}

/* Zoom by click and key, what is selected, and the way back. */
async function zoom(p, report) {
	const whole = await p.evaluate("braidPage.total()"), [gamma] = await frames(p, "Worker.gamma");
	assert.strictEqual(whole, report.samples.total);
	await p.click([gamma.x, gamma.y]);
	assert((await hash(p)).includes("zoom="));
	assert((await p.text("detail-name")) === "Worker.gamma" && (await p.text("detail-numbers")).includes("100.00 % of what is zoomed to"), await p.text("detail-numbers"));
	assert(/^https:\/\/example\.org\/Worker\.java#L\d+$/.test(await p.evaluate(`document.getElementById("detail-source").getAttribute("href")`)), "no link to the source");
	const shares = (await p.text("legend")).match(/[\d.]+ %/g).map(parseFloat);
	assert(Math.abs(shares.reduce((a, b) => a + b) - 100) < 0.1, "the legend is not about what is zoomed to: " + shares);
	await p.evaluate(`window.copied = ""; navigator.clipboard.writeText = async text => { window.copied = text; }`);
	await p.key("c");
	const copied = (await p.evaluate("window.copied")).trim().split("\n");
	assert.deepStrictEqual(copied.slice(0, 3), ["Worker.gamma", "Worker.beta", "Worker.alpha"]);
	const reloaded = await hash(p);
	await back(p, "braidPage.flame.zoom === 0");
	await p.evaluate(`location.hash = ${JSON.stringify(reloaded)}`);
	await p.until(`braidPage.flame.zoom > 0 && braidPage.flame.rows.length > 0 && braidPage.flame.tree.labels[braidPage.flame.tree.label[braidPage.flame.zoom]] === "Worker.gamma"`);
	await p.key("Escape");
	assert.strictEqual(await p.evaluate("braidPage.flame.zoom"), 0);
	await p.key("ArrowUp");
	await p.key("ArrowUp");
	const chosen = await p.text("detail-name");
	await p.key("Enter");
	assert(chosen !== "" && (await p.evaluate("braidPage.flame.zoom")) > 0, "the keyboard does not zoom");
	await p.key("Backspace");
	await p.key("Escape");
	await p.key("Escape");
}

/* The search says how many names and which share match; of what is zoomed to. */
async function search(p, report) {
	const spin = report.methods.find(m => m.name === "Worker.spin");
	const found = "1 name, " + (100 * spin.total / report.samples.total).toFixed(2) + " %";
	await p.type("search", "^Worker\\.spin$");
	assert.strictEqual(await p.text("matched"), found);
	/* it is in the address, with which a page can begin */
	await p.again("#search=" + encodeURIComponent("^Worker\\.spin$"));
	assert.strictEqual(await p.text("matched"), found);
	await p.evaluate(`document.getElementById("view").focus()`);
	await p.key("n");
	assert.strictEqual(await p.text("detail-name"), "Worker.spin");
	await p.type("search", "(");
	assert.strictEqual(await p.text("matched"), "not a regular expression");
	await p.type("search", "");
}

async function shapes(p) {
	const folded = (await names(p)).filter(name => / \u2026 call_stub$/.test(name));
	assert(folded.length > 0, "the start of threads is not folded");
	const whole = await p.evaluate("braidPage.total()");
	await p.press("plumbing");
	assert(!(await names(p)).some(name => name.includes("\u2026")) && (await names(p)).includes("call_stub") && (await p.evaluate("braidPage.total()")) === whole);
	await p.press("plumbing");
	await p.press("threads");
	assert((await p.evaluate("braidPage.flame.rows[1].filter((_, k) => k % 3 === 0).length")) > 1 && (await p.evaluate("braidPage.total()")) === whole);
	await p.press("recursion");
	assert.strictEqual(await p.evaluate("braidPage.total()"), whole);
	await p.press("threads");
	await p.press("recursion");
	await p.press("reverse");
	assert((await frames(p, "Worker.spin")).length > 0 && (await hash(p)).includes("reverse=1"));
	await p.press("icicle");
	assert((await frames(p, "all"))[0].y < 30, "the root of an icicle is at the top");
	await p.press("icicle");
	await p.press("reverse");
	/* a kind of code that is left out */
	await p.evaluate(`document.querySelector("#legend button").click()`);
	assert((await p.evaluate("braidPage.total()")) < whole && (await hash(p)).includes("without="));
	await p.evaluate(`document.querySelector("#legend button").click()`);
}

/* The table has the report's sums; a method has its callers and callees. */
async function methods(p, report) {
	await p.key("2");
	await p.type("search", "Worker");
	const rows = await p.evaluate(`[...document.querySelectorAll("#method-rows tr")].map(row => [row.dataset.name, row.children[0].title, row.children[1].title])`);
	for (const m of report.methods.filter(m => m.name.startsWith("Worker."))) {
		const row = rows.find(([name]) => name === m.name), n = value => value.toLocaleString("en") + (value === 1 ? " sample" : " samples");
		assert.deepStrictEqual(row, [m.name, n(m.self), n(m.total)]);
	}
	await p.evaluate(`document.querySelector("#method-rows tr[data-name='Worker.spin'] button").click()`);
	await p.frame();
	assert((await names(p, "callers")).includes("Worker.gamma") && (await names(p, "callers")).includes("Worker.alpha"));
	const spin = report.methods.find(m => m.name === "Worker.spin");
	assert.strictEqual((await frames(p, "Worker.spin", "callers"))[0].total, spin.total);
	await p.evaluate(`document.querySelector("#method-rows tr[data-name='Worker.spin'] button").focus()`);
	await p.key("ArrowDown");
	assert.notStrictEqual(await p.evaluate("braidPage.state.method"), "Worker.spin", "the arrow keys do not go through the table");
	await p.evaluate(`document.querySelector("#method-rows tr[data-name='Worker.gamma'] button").click()`);
	await p.frame();
	assert((await names(p, "callees")).some(name => name === "Worker.spin"));
	await p.type("search", "");
	await back(p, `braidPage.state.method === "Worker.spin"`);
	await p.key("1");
}

/* Names of frames keep the method, however little room there is. */
async function labels(p) {
	const forms = name => p.evaluate(`braidPage.formsOf(${JSON.stringify(name)})`);
	assert.deepStrictEqual(await forms("com.google.javascript.jscomp.Compiler.parse"),
		["com.google.javascript.jscomp.Compiler.parse", "c.g.j.j.Compiler.parse", "Compiler.parse", "parse"]);
	assert.deepStrictEqual(await forms("java.lang.Object.<init>"), ["java.lang.Object.<init>", "j.l.Object.<init>", "Object.<init>", "<init>"]);
	assert.deepStrictEqual(await forms("std::vector<std::pair<int, int> >::push_back(int&&)"),
		["std::vector<std::pair<int, int> >::push_back(int&&)", "std::vector::push_back", "vector::push_back", "push_back"]);
	assert.deepStrictEqual(await forms("[libz.so.1+0x4970]"), ["[libz.so.1+0x4970]"]);
	/* Names in the table fit when it is the first that is drawn. */
	await p.again("#view=methods");
	assert.deepStrictEqual(await p.evaluate(`[...document.querySelectorAll("#method-rows button")].filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)`), []);
	assert((await p.evaluate(`document.querySelectorAll("#method-rows button").length`)) > 10);
}

/* Every control has a name; text has a contrast of 4.5 on its ground; nothing is wider than a telephone. */
async function accessible(p) {
	const nameless = await p.evaluate(`[...document.querySelectorAll("button, input, select, a[href], [tabindex='0']")].filter(e => !e.hidden && !(e.textContent.trim() || e.getAttribute("aria-label") || e.labels?.length)).map(e => e.id)`);
	assert.deepStrictEqual(nameless, []);
	const poor = await p.evaluate(`(() => {
		const light = c => c.map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, k) => sum + v * [0.2126, 0.7152, 0.0722][k], 0);
		const rgb = text => text[0] === "#" ? [1, 3, 5].map(k => parseInt(text.slice(k, k + 2), 16)) : text.match(/\\d+/g).slice(0, 3).map(Number);
		const contrast = (a, b) => { const [x, y] = [light(rgb(a)), light(rgb(b))].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
		const found = [];
		for (const theme of ["light", "dark"]) {
			document.documentElement.dataset.theme = theme;
			const v = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim(), k = theme === "dark" ? 1 : 0;
			for (const [name, pair] of Object.entries({...braidPage.colours, match: braidPage.match}))
				if (contrast(v("--frame-ink"), pair[k]) < 4.5)
					found.push(theme + " " + name + " " + contrast(v("--frame-ink"), pair[k]));
			for (const [ink, ground] of [["--ink", "--page"], ["--ink", "--panel"], ["--muted", "--page"], ["--muted", "--panel"], ["--accent", "--page"], ["--accent", "--bar"], ["--bad", "--panel"], ["--on-accent", "--accent"], ["--more", "--page"], ["--less", "--page"]])
				if (contrast(v(ink), v(ground)) < 4.5)
					found.push(theme + " " + ink + " on " + ground + " " + contrast(v(ink), v(ground)));
		}
		delete document.documentElement.dataset.theme;
		return found;
	})()`);
	assert.deepStrictEqual(poor, []);
	for (const view of ["graph", "methods", "timeline", "heat", "recording"]) {
		await p.command("Emulation.setDeviceMetricsOverride", {width: 390, height: 844, deviceScaleFactor: 1, mobile: false});
		await p.evaluate(`location.hash = "#view=${view}"`);
		await p.until(`braidPage.state.view === "${view}"`);
		await p.until("document.documentElement.scrollWidth <= 390");
	}
}

(async () => {
	const p = await open(process.argv[2]), report = JSON.parse(fs.readFileSync(process.argv[3], "utf8"));
	try {
		for (const part of [zoom, search, shapes, methods, labels])
			await part(p, report);
		await p.key("5");
		assert((await p.text("recording-view")).includes("Nothing was lost") && (await p.text("recording-view")).includes(report.recording["host.name"]));
		await accessible(p);
		assert.deepStrictEqual(p.errors, []);
	} finally {
		await p.close();
	}
})().catch(error => {
	console.error(error);
	process.exit(1);
});
