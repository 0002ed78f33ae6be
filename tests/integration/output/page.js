// SPDX-License-Identifier: Apache-2.0
// node page.js PAGE EXPRESSION...: runs the page without a browser; each expression about it must be true. `$(id)` is
// an element, click(id) presses it, drawn() draws again and returns [x, y, width, height] of each rectangle, texts()
// the texts, lines() the number of strokes, data is the page's data.
"use strict";
const fs = require("fs");
const vm = require("vm");

const html = fs.readFileSync(process.argv[2], "utf8");
const [, json] = html.match(/id="data">(.*?)<\/script>/s), [, code] = html.match(/<script>\n(.*)<\/script>/s);
const elements = {}, seen = {rects: [], texts: [], lines: 0};

function element(id) {
	return {
		id, textContent: id === "data" ? json : "", value: "", hidden: false, clientWidth: 1200, clientHeight: 600, scrolled: 0, style: {},
		children: [], dataset: {}, classList: {add() {}, remove() {}}, handlers: {}, click() { this.handlers.click(); },
		get scrollTop() { return this.scrolled; },
		set scrollTop(to) { this.scrolled = Math.min(to, parseFloat($("spacer").style.height) || 0); },
		setAttribute() {}, focus() {}, select() {}, blur() {},
		append(...more) { this.children.push(...more); },
		get lastElementChild() { return this.children[this.children.length - 1]; },
		get firstElementChild() { return this.children[0]; },
		replaceChildren() { this.children = []; },
		addEventListener(what, then) { this.handlers[what] = then; },
		getBoundingClientRect() { return {left: 0, top: 0, width: 1200, height: 600}; },
		getContext() {
			return {
				setTransform() {}, clearRect() {}, beginPath() {}, moveTo() {}, stroke() {}, strokeRect() {},
				createImageData: (width, height) => ({width, height, data: new Uint8ClampedArray(width * height * 4)}), putImageData() {},
				measureText: text => ({width: text.length * 7}),
				fillRect: (...box) => seen.rects.push(box), fillText: text => seen.texts.push(text), lineTo: () => seen.lines++,
			};
		},
	};
}

const $ = id => elements[id] ||= element(id);
const document = {getElementById: $, createElement: element, documentElement: element("html"), activeElement: null};
const world = vm.createContext({
	document, console, devicePixelRatio: 1, innerWidth: 1200, innerHeight: 700, addEventListener() {}, atob, performance, setTimeout, clearTimeout,
	location: {hash: ""}, history: {pushState: (_, __, to) => { world.location.hash = to; }, replaceState: (_, __, to) => { world.location.hash = to; }},
	matchMedia: () => ({matches: false, addEventListener() {}}), getComputedStyle: () => ({getPropertyValue: () => "#000"}),
});
vm.runInContext(code, world);

function again() {
	Object.assign(seen, {rects: [], texts: [], lines: 0});
	$("view").handlers.scroll();
}

Object.assign(world, {
	$, data: JSON.parse(json), click: id => $(id).handlers.click() ?? true,
	drawn: () => (again(), seen.rects), texts: () => (again(), seen.texts), lines: () => (again(), seen.lines),
});
for (const expression of process.argv.slice(3))
	if (!vm.runInContext(expression, world)) {
		console.error("not true: " + expression);
		for (const id of ["about", "filter", "lost"])
			console.error("  " + id + ": " + $(id).textContent);
		console.error("  " + seen.rects.length + " rectangles; " + seen.texts.slice(0, 20).join(" | "));
		process.exit(1);
	}
process.exit(0);
