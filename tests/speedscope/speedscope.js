// SPDX-License-Identifier: Apache-2.0
// node speedscope.js PAGE FILE COLLAPSED UNIT IMAGE: speedscope's page opens FILE as its own command has it opened. What it
// shows and what it exports again is what COLLAPSED says, whose lines begin with a thread and have weights of UNIT. IMAGE: a file, or
// none.
"use strict";
const assert = require("assert");
const fs = require("fs");
const {open} = require("../integration/output/browser.js");

const [page, file, collapsed, unit, image] = process.argv.slice(2);

function add(map, key, weight) {
	map.set(key, (map.get(key) || 0) + weight);
}

/* The weights of stacks by thread id. Names of frames have ':' for ';'. */
function expected() {
	const threads = new Map();
	for (const line of fs.readFileSync(collapsed, "utf8").trimEnd().split("\n")) {
		const [, name, tid, stack, weight] = line.match(/^\[(.*?) tid=(\d+)\];(.*) (\d+)$/);
		if (!threads.has(tid))
			threads.set(tid, {name, stacks: new Map()});
		add(threads.get(tid).stacks, stack, weight * unit);
	}
	return threads;
}

/* The stacks of a profile as speedscope exports it, lists of frames: these are opened and closed. */
function stacksOf(profile) {
	const stacks = new Map(), path = [];
	let at = profile.startValue;
	for (const event of profile.events) {
		if (event.at > at)
			add(stacks, path.join(), event.at - at);
		at = event.at;
		if (event.type === "O")
			path.push(event.frame);
		else
			assert.strictEqual(path.pop(), event.frame, "speedscope closes a frame that is not the innermost");
	}
	return [...stacks].map(([list, weight]) => [list.split(",").map(Number), weight]);
}

function named(stacks, frames) {
	const all = new Map();
	for (const [list, weight] of stacks)
		add(all, list.map(frame => frames[frame].name.replaceAll(";", ":")).join(";"), weight);
	return all;
}

function same(found, wanted, what) {
	const differences = [...new Set([...found.keys(), ...wanted.keys()])].filter(key => found.get(key) !== wanted.get(key));
	for (const key of differences)
		assert.fail(`${what} differs (1 of ${differences.length}): ${found.get(key)}, not ${wanted.get(key)}: ${key}`);
}

const SCALES = {ns: 1, "µs": 1e3, ms: 1e6, s: 1e9, B: 1, KB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30};

/* Of "1.00ms (10%)": the number in the export's unit, and half of the last digit */
function weightOf(text) {
	const [, number, decimals, scale] = text.match(/^([\d,]+\.?(\d*)) ?(\D*) \(/);
	return [Number(number.replaceAll(",", "")) * SCALES[scale], SCALES[scale] / 10 ** decimals.length / 2];
}

const ROWS = `[...document.querySelectorAll("tr")].map(r => [...r.cells].map(c => c.innerText.trim())).filter(r => r.length === 3 && r[0].endsWith("%)"))`;

/* The rows that are seen of the table: the weight of a frame with all that it calls, its own, and its name. Frames of one name may
   be in several files or lines. */
async function checkRows(p, stacks, frames) {
	const own = new Map(), all = new Map();
	for (const [list, weight] of stacks) {
		add(own, list[list.length - 1], weight);
		new Set(list).forEach(frame => add(all, frame, weight));
	}
	const fits = (text, want = 0) => {
		const [weight, half] = weightOf(text);
		return Math.abs(weight - want) <= half * 1.01;
	};
	await p.until(`${ROWS}.length > 0`);
	for (const [total, self, name] of await p.evaluate(ROWS))
		assert([...all].some(([frame, weight]) => frames[frame].name === name && fits(total, weight) && fits(self, own.get(frame))), `a row differs: ${total} ${self} ${name}`);
}

/* What the page's button saves */
async function exported(p) {
	await p.evaluate("URL.createObjectURL = blob => { blob.text().then(text => { window.saved = JSON.parse(text); }); return '#'; }");
	await p.evaluate(`[...document.querySelectorAll("div")].filter(d => d.innerText.endsWith("Export")).pop().click()`);
	await p.until("window.saved !== undefined");
	return p.evaluate("window.saved");
}

/* Between the buttons; a single profile has no number. */
const TITLE = "document.body.innerText.match(/Sandwich\\n(.+?)(?: \\((\\d+)\\/(\\d+)\\))?\\n/)";

async function check(p) {
	const threads = expected();

	await p.until(`${TITLE} || window.said || document.body.innerText.includes("Something went wrong")`);
	assert(await p.evaluate(TITLE), await p.evaluate("'the page refuses the file: ' + (window.said || document.body.innerText)"));
	const {exporter, shared, profiles} = await exported(p), idOf = profile => profile.name.match(/ \(pid \d+, tid (\d+)\)$/)[1];
	assert.match(exporter, /^speedscope@/);
	same(new Map(profiles.map(profile => [idOf(profile), profile.name.replace(/ \([^(]*\)$/, "")])), new Map([...threads].map(([tid, t]) => [tid, t.name])), "the set of threads");
	for (const profile of profiles) {
		same(named(stacksOf(profile), shared.frames), threads.get(idOf(profile)).stacks, profile.name);
		assert.strictEqual(profile.unit, Number(unit) === 1 ? "bytes" : "nanoseconds");
	}
	let at = (await p.evaluate(TITLE))[2] || 1;
	assert.strictEqual(profiles[at - 1].endValue, Math.max(...profiles.map(profile => profile.endValue)), "the page does not open with the heaviest thread");
	await p.key("2"); // a flame graph
	if (image !== "none")
		await p.shot(image);
	for (; at > 1; at--)
		await p.key("p");
	await p.key("3"); // the view with a table
	for (const [k, profile] of profiles.entries()) {
		const [, ...title] = await p.evaluate(TITLE);
		assert.deepStrictEqual(title, profiles.length > 1 ? [profile.name, `${k + 1}`, `${profiles.length}`] : [profile.name, null, null]);
		await checkRows(p, stacksOf(profile), shared.frames);
		await p.key("n");
	}
}

(async () => {
	const p = await open(null, {width: 1400, height: 900});
	let failed = false;
	try {
		const script = `${process.cwd()}/load.js`;
		fs.writeFileSync(script, `speedscope.loadFileFromBase64("braid.json", "${fs.readFileSync(file).toString("base64")}")`);
		// a dialog would wait for an answer
		await p.command("Page.addScriptToEvaluateOnNewDocument", {source: "alert = text => { window.said = text; };"});
		await p.load(`file://${page}#localProfilePath=${script}`, "document.body.innerText.length > 0");
		await check(p);
	} catch (error) {
		console.error(error.message);
		failed = true;
	}
	await p.close();
	process.exit(failed ? 1 : 0);
})();
