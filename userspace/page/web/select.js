/* SPDX-License-Identifier: Apache-2.0 */
/* ---- the frame that is selected, and what can be done with it ---- */
let active = null; /* the flame graph that has it */

function selectFrame(f, node) {
	if (active && active !== f) {
		active.focus = -1;
		drawFlame(active);
	}
	active = node < 0 ? null : f;
	f.focus = node;
	reveal(f, node);
	drawFlame(f);
	describeFrame();
}

/* What a frame weighs, of what is zoomed to and of everything. */
function numbersOf(f, i) {
	const {tree, zoom} = f, out = [];
	if (tree.was)
		return [changeText(tree.was[i], tree.total[i]), "self: " + changeText(tree.selfWas[i], tree.self[i])];
	for (const [title, column] of [["total", tree.total], ["self", tree.self]])
		out.push(title + " " + amount(column[i]) + ", " + share(column[i], tree.total[tree.total[i] <= tree.total[zoom] ? zoom : 0]) +
			(zoom && tree.total[i] <= tree.total[zoom] ? " of what is zoomed to, " + share(column[i], tree.total[0]) + " of all" : ""));
	return out;
}

function kindText(f, i) {
	return i ? data.kinds[f.tree.kind[i]] || "thread" : "";
}

function describeFrame() {
	$("detail").hidden = active === null;
	if (active === null)
		return;
	const i = active.focus, name = frameName(active, i);
	$("detail-name").textContent = name;
	$("detail-numbers").textContent = [kindText(active, i), ...numbersOf(active, i)].filter(text => text !== "").join(" \u00b7 ");
	$("detail-method").hidden = i === 0 || graph.chains || !isMethod(name) || (state.view === "methods" && state.method === name);
	$("detail-copy").hidden = i === 0;
	linkSource("detail-source", name);
}

/* Lets a link lead to a method's source, or hides it. */
function linkSource(id, name) {
	const link = sourceOf(name);
	$(id).hidden = link === null;
	if (link !== null) {
		$(id).setAttribute("href", link.href);
		$(id).textContent = link.text;
	}
}

/* Where a method's source is: an address of the pattern in the page's data. Null: not known. */
function sourceOf(name) {
	const pattern = data.source_link || "";
	if (!graph.places) {
		graph.places = new Map();
		for (let i = 0; i < (graph.sources || []).length; i += 3)
			graph.places.set(graph.sources[i], [graph.sources[i + 1], graph.sources[i + 2]]);
	}
	if (!graph.places.has(name) || !/^https?:\/\//.test(pattern))
		return null;
	const [path, line] = graph.places.get(name), escaped = path.split("/").map(encodeURIComponent).join("/");
	return {href: pattern.replaceAll("{path}", () => escaped).replaceAll("{line}", () => String(line)), text: path.split("/").pop() + ":" + line};
}

/* Puts a text where it can be pasted from. */
async function copyText(text) {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch (error) {
		const field = element("textarea", "", document.body);
		field.value = text;
		field.select();
		const done = document.execCommand("copy");
		field.remove();
		return done;
	}
}

/* Copies the names of a stack, innermost first. */
async function copyNames(names) {
	say(await copyText(names.join("\n") + "\n") ? "The stack is copied" : "The browser does not allow copying");
}

function copyStack() {
	if (active && active.focus > 0)
		copyNames(stackOf(active, active.focus));
}

let silence = 0;

/* A short message that goes away. */
function say(text) {
	clearTimeout(silence);
	note("said", text);
	silence = setTimeout(() => note("said", ""), 2500);
}

/* Keys of a flame graph. True: the key has a meaning. */
function keyFlame(f, event) {
	if (event.key.startsWith("Arrow")) {
		const next = neighbour(f, event.key);
		if (next >= 0)
			selectFrame(f, next);
	} else if (event.key === "Enter" && f.focus >= 0) {
		zoomTo(f, f.focus);
	} else if (event.key === "Backspace" && f.zoom) {
		zoomTo(f, f.tree.parent[f.zoom]);
	} else if (event.key === "c") {
		copyStack();
	} else if (event.key === "m" && f.focus > 0 && isMethod(frameName(f, f.focus))) {
		showMethod(frameName(f, f.focus));
	} else if ((event.key === "n" || event.key === "N") && matchedLabel) {
		nextMatch(f, event.key === "n" ? 1 : -1);
	} else {
		return false;
	}
	return true;
}

function zoomTo(f, node) {
	f.zoom = node;
	f.hover = -1;
	$("tip").hidden = true;
	if (f === flame)
		summarise();
	layFlame(f);
	selectFrame(f, node === 0 ? -1 : node);
	if (f === flame)
		changed(true);
}

/* Selects the next frame that matches, in the order of rows. */
function nextMatch(f, step) {
	const found = [];
	for (const row of f.rows)
		for (let k = 0; k < row.length; k += 3)
			if (row[k] && matchedLabel[f.tree.label[row[k]]])
				found.push(row[k]);
	if (found.length)
		selectFrame(f, found[(found.indexOf(f.focus) + step + (step < 0 && f.focus < 0 ? 1 : 0) + found.length) % found.length]);
}

/* Pointer and keys of a flame graph. */
function listen(f) {
	f.canvas.addEventListener("pointermove", event => f.tree && event.pointerType !== "touch" && hoverFrame(f, event));
	f.canvas.addEventListener("pointerleave", () => hoverFrame(f, null));
	f.canvas.addEventListener("click", event => {
		const i = f.tree && (f !== flame || state.view === "graph") ? frameAt(f, event) : -1;
		if (i >= 0)
			zoomTo(f, i);
	});
	f.box.addEventListener("keydown", event => {
		if (f.tree && (f !== flame || state.view === "graph") && !event.ctrlKey && !event.metaKey && !event.altKey && keyFlame(f, event)) {
			event.preventDefault();
			event.stopPropagation();
		}
	});
	if (f !== flame)
		f.box.addEventListener("scroll", () => {
			$("tip").hidden = true;
			drawFlame(f);
		});
}

function hoverFrame(f, event) {
	if (f === flame && state.view !== "graph")
		return;
	const i = event ? frameAt(f, event) : -1;
	if (i !== f.hover) {
		f.hover = i;
		drawFlame(f);
	}
	f.canvas.style.cursor = i < 0 ? "default" : "pointer";
	$("tip").hidden = i < 0;
	if (i >= 0)
		showTip(frameName(f, i), [kindText(f, i), ...numbersOf(f, i)], event);
}
