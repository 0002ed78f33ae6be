// SPDX-License-Identifier: Apache-2.0
// node wakers.js PAGE STACKS: the page's flame graph of wakers has the collapsed stacks of `braid export --wakers`, and in a browser
// it is one of those to choose from.
"use strict";
const assert = require("assert");
const fs = require("fs");
const {CHROMIUM, open} = require("./browser.js");

/* Chains with their times, as one line each. */
function exported(file) {
	const sums = new Map();
	for (const line of fs.readFileSync(file, "utf8").trim().split("\n")) {
		const at = line.lastIndexOf(" "), text = line.slice(0, at);
		sums.set(text, (sums.get(text) || 0) + Number(line.slice(at + 1)));
	}
	return sums;
}

/* The page has front-coded labels. */
function labelsOf(graph) {
	let before = "";
	return graph.labels.map((rest, i) => before = before.slice(0, graph.shared[i]) + rest);
}

function shown(graph) {
	const labels = labelsOf(graph), sums = new Map();
	for (let i = 0; i < graph.samples.length; i += 3) {
		const path = [];
		for (let node = graph.samples[i + 1]; node; node = graph.nodes[3 * node - 3])
			path.unshift(labels[graph.nodes[3 * node - 2]]);
		sums.set(path.join(";"), (sums.get(path.join(";")) || 0) + graph.samples[i + 2]);
	}
	return sums;
}

async function choose(page, number, total) {
	const p = await open(page);
	try {
		await p.evaluate(`(() => { const g = document.getElementById("graph"); g.value = "${number}"; g.dispatchEvent(new Event("change")); })()`);
		await p.frame();
		assert.strictEqual(await p.evaluate("braidPage.total()"), total);
		const [monitor] = await p.evaluate(`braidPage.frames(braidPage.flame, "[monitor WhatIf$Journal]")`);
		assert(monitor, "no wait for the monitor");
		await p.click([monitor.x, monitor.y]);
		assert.strictEqual(await p.text("detail-name"), "[monitor WhatIf$Journal]");
		/* Above it are the separator, and the owner that released it. */
		const above = await p.evaluate(`(() => { const t = braidPage.flame.tree, i = braidPage.flame.zoom; let c = t.first[i]; return [t.labels[t.label[c]], t.labels[t.label[t.first[c]]]]; })()`);
		assert.strictEqual(above[0], "--");
		assert(await p.evaluate(`document.getElementById("methods").hidden`), "methods, though half of the stacks are upside down");
		assert((await p.text("limits")).startsWith("Upwards"));
		/* The address leads to it, and no address to its methods. */
		await p.again((await p.evaluate("location.hash")) + "&view=methods");
		assert.strictEqual(await p.evaluate("braidPage.state.view"), "graph");
		assert.strictEqual(await p.evaluate(`braidPage.data.graphs[braidPage.state.graph].name`), "Wakers");
		await p.evaluate(`(() => { const g = document.getElementById("graph"); g.value = "0"; g.dispatchEvent(new Event("change")); })()`);
		await p.press("methods");
		assert.strictEqual(await p.evaluate("braidPage.state.view"), "methods");
		await p.evaluate(`(() => { const g = document.getElementById("graph"); g.value = "${number}"; g.dispatchEvent(new Event("change")); })()`);
		assert.strictEqual(await p.evaluate("braidPage.state.view"), "graph");
		assert.deepStrictEqual(p.errors, []);
	} finally {
		await p.close();
	}
}

const [page, stacks] = process.argv.slice(2);
const text = fs.readFileSync(page, "utf8"), begin = text.indexOf('id="data"');
const data = JSON.parse(text.slice(text.indexOf(">", begin) + 1, text.indexOf("</script>", begin)));
const number = data.graphs.findIndex(g => g.chains), graph = data.graphs[number];
const want = exported(stacks), got = shown(graph);
assert(want.size > 3 && [...want.keys()].some(chain => chain.split(";--;").length > 2), "no chains: " + [...want.keys()].join("\n"));
assert.deepStrictEqual(new Map([...got].sort()), new Map([...want].sort()));
assert.strictEqual([...want.values()].reduce((a, b) => a + b), graph.total);
if (CHROMIUM)
	choose(page, number, graph.total).catch(error => {
		console.error(error);
		process.exit(1);
	});
