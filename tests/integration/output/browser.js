// SPDX-License-Identifier: Apache-2.0
// A page in headless Chromium, driven over a pipe: open(page, options) has what a person does. As a program: node browser.js
// PAGE IMAGE [EXPRESSION...] makes an image of the page after the expressions.
"use strict";
const {spawn} = require("child_process");
const fs = require("fs");
const os = require("os");
const path = require("path");

const LIMIT_MS = 90000; // that of lib.sh

const CHROMIUM = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(name => fs.existsSync(name));

/* The protocol: JSON texts that end with a zero byte. */
function connect(child) {
	const waiting = new Map(), errors = [];
	let text = "", last = 0;
	child.stdio[4].on("data", part => {
		const whole = (text + part).split("\0");
		text = whole.pop();
		for (const message of whole.map(JSON.parse)) {
			if (message.method === "Runtime.exceptionThrown")
				errors.push(message.params.exceptionDetails.exception?.description || message.params.exceptionDetails.text);
			if (!waiting.has(message.id))
				continue;
			const {done, fail} = waiting.get(message.id);
			waiting.delete(message.id);
			message.error ? fail(new Error(JSON.stringify(message.error))) : done(message.result);
		}
	});
	const send = (method, params = {}, sessionId = undefined) => new Promise((done, fail) => {
		waiting.set(++last, {done, fail});
		child.stdio[3].write(JSON.stringify({id: last, method, params, sessionId}) + "\0");
	});
	return {send, errors};
}

const wait = ms => new Promise(done => setTimeout(done, ms));

/* Asks until the answer is true, and returns it. */
async function repeat(what, ask) {
	for (const end = Date.now() + LIMIT_MS; ; await wait(50)) {
		const answer = await ask();
		if (answer)
			return answer;
		if (Date.now() > end)
			throw new Error("waited in vain for " + what);
	}
}

/* Without a page: an empty one, for load(). */
async function open(page, {width = 1200, height = 700, hash = "", dark = false} = {}) {
	const home = fs.mkdtempSync(path.join(os.tmpdir(), "braid-page-"));
	const child = spawn(CHROMIUM, ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir=" + home, "about:blank"], {stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"]});
	const {send, errors} = connect(child);
	const target = await repeat("the browser's page", async () => (await send("Target.getTargets")).targetInfos.find(t => t.type === "page"));
	const {sessionId} = await send("Target.attachToTarget", {targetId: target.targetId, flatten: true});
	const command = (method, params) => send(method, params, sessionId);

	async function evaluate(expression) {
		const result = await command("Runtime.evaluate", {expression, returnByValue: true, awaitPromise: true});
		if (result.exceptionDetails)
			throw new Error(expression + ": " + (result.exceptionDetails.exception?.description || result.exceptionDetails.text));
		return result.result.value;
	}
	const frame = () => evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))");
	const mouse = (type, x, y, more = {}) => command("Input.dispatchMouseEvent", {type, x, y, ...more});
	/* places are those of the canvas */
	async function at([x, y]) {
		const box = await evaluate("(() => { const b = document.getElementById('canvas').getBoundingClientRect(); return [b.left, b.top]; })()");
		return [box[0] + x, box[1] + y];
	}
	const api = {
		evaluate, frame, errors, command,
		/* What follows from an event that the browser sends later is there, and drawn. */
		async until(expression) {
			await repeat(expression, () => evaluate(expression));
			await frame();
		},
		async move(place) { await mouse("mouseMoved", ...await at(place)); await frame(); },
		async drag(a, b, modifiers = 0) {
			const from = await at(a), to = await at(b), left = {button: "left", buttons: 1, clickCount: 1, modifiers};
			await mouse("mouseMoved", ...from);
			await mouse("mousePressed", ...from, left);
			if (a !== b)
				for (let k = 1; k <= 4; k++)
					await mouse("mouseMoved", from[0] + (to[0] - from[0]) * k / 4, from[1] + (to[1] - from[1]) * k / 4, left);
			await mouse("mouseReleased", ...to, left);
			await frame();
		},
		click: place => api.drag(place, place),
		async wheel(place, deltaY, modifiers = 0) {
			await mouse("mouseWheel", ...await at(place), {deltaX: 0, deltaY, modifiers});
			await wait(50);
			await frame();
		},
		text: id => evaluate(`document.getElementById("${id}").textContent`),
		async press(id) {
			await evaluate(`document.getElementById("${id}").click()`);
			await frame();
		},
		async type(id, value) {
			await evaluate(`(() => { const f = document.getElementById("${id}"); f.value = ${JSON.stringify(value)}; f.dispatchEvent(new Event("input")); })()`);
			await frame();
		},
		async key(key) {
			await command("Input.dispatchKeyEvent", {type: "keyDown", key, text: key.length === 1 ? key : undefined});
			await command("Input.dispatchKeyEvent", {type: "keyUp", key});
			await frame();
		},
		async shot(file) {
			await frame();
			fs.writeFileSync(file, Buffer.from((await command("Page.captureScreenshot", {format: "png"})).data, "base64"));
		},
		async load(url, ready = "typeof braidPage === 'object'") {
			await command("Page.navigate", {url});
			await repeat(url + ": " + ready, () => evaluate(ready).catch(() => false));
			await frame();
		},
		/* The page anew, at an address of its own. */
		async again(hash = "", ready = undefined) {
			await api.load("about:blank", "location.href === 'about:blank'");
			await api.load("file://" + path.resolve(page) + hash, ready);
		},
		async close() {
			const ended = new Promise(done => child.on("exit", done));
			await send("Browser.close").catch(() => {});
			await Promise.race([ended, wait(5000)]);
			child.kill("SIGKILL");
			await ended;
			fs.rmSync(home, {recursive: true, force: true, maxRetries: 5});
		},
	};
	await command("Runtime.enable");
	await command("Page.enable");
	await command("Emulation.setDeviceMetricsOverride", {width, height, deviceScaleFactor: 1, mobile: false});
	await command("Emulation.setEmulatedMedia", {features: [{name: "prefers-color-scheme", value: dark ? "dark" : "light"}]});
	if (page)
		await api.load("file://" + path.resolve(page) + hash);
	return api;
}

module.exports = {CHROMIUM, open};

if (require.main === module)
	(async () => {
		const [page, image, ...expressions] = process.argv.slice(2);
		const [, size, hash = ""] = (process.env.PAGE_VIEW || "").match(/^(\d+x\d+)?(#.*)?$/) || [];
		const [width, height] = (size || "1200x700").split("x").map(Number), p = await open(page, {width, height, hash, dark: Boolean(process.env.PAGE_DARK)});
		for (const expression of expressions)
			console.log(JSON.stringify(await p.evaluate(expression)));
		await p.shot(image);
		p.errors.forEach(error => console.error(error));
		await p.close();
		process.exit(p.errors.length ? 1 : 0);
	})();
