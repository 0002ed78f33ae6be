/* SPDX-License-Identifier: Apache-2.0 */
/* ---- what is shown is in the address, so that it can be passed on, and the browser's "back" goes back ---- */
let restoring = false, written = "", later = 0;

function hashText() {
	const out = [], add = (name, value, usual) => String(value) !== String(usual) && out.push(name + "=" + encodeURIComponent(value));
	add("view", state.view, "graph");
	add("graph", state.graph, 0);
	add("process", state.process, "");
	add("thread", state.thread, "");
	add("search", $("search").value, "");
	add("lanes", laneFilter, "");
	if (from !== begin || to !== end)
		out.push("time=" + from.toFixed(3) + "-" + to.toFixed(3));
	if (state.range)
		out.push("range=" + state.range.map(us => us.toFixed(3)).join("-"));
	add("icicle", state.icicle ? 1 : 0, 0);
	add("reverse", state.reverse ? 1 : 0, 0);
	return out.join("&");
}

/* `step`: going back comes here. Movements are written when they end. */
function changed(step) {
	if (restoring)
		return;
	clearTimeout(later);
	if (step)
		writeHash(true);
	else
		later = setTimeout(() => writeHash(false), 300);
}

function writeHash(step) {
	const text = hashText();
	if (text === written)
		return;
	written = text;
	try {
		history[step ? "pushState" : "replaceState"](null, "", "#" + text);
	} catch (error) {
		/* a browser may forbid it for files; the page works without */
	}
}

function timesIn(text) {
	const list = (text || "").split("-").map(Number);
	return list.length === 2 && list[0] < list[1] && list.every(Number.isFinite) ? [Math.max(begin, list[0]), Math.min(end, list[1])] : null;
}

function readHash() {
	const got = new Map(location.hash.slice(1).split("&").map(pair => {
		const at = pair.indexOf("=");
		try {
			return at < 0 ? [pair, ""] : [pair.slice(0, at), decodeURIComponent(pair.slice(at + 1))];
		} catch (error) {
			return ["", ""];
		}
	}));
	const number = (name, below) => /^\d+$/.test(got.get(name) || "") && +got.get(name) < below ? +got.get(name) : null;
	restoring = true;
	choose(number("graph", data.graphs.length) ?? 0);
	$("graph").value = String(state.graph);
	state.process = data.threads.some(t => String(t.pid) === got.get("process")) ? got.get("process") : "";
	$("process").value = state.process;
	fillThreads();
	state.thread = String(number("thread", data.threads.length) ?? "");
	$("thread").value = state.thread;
	state.range = timesIn(got.get("range"));
	[from, to] = timesIn(got.get("time")) || [begin, end];
	$("search").value = got.get("search") || "";
	laneFilter = $("lanes").value = got.get("lanes") || "";
	for (const name of ["icicle", "reverse"]) {
		state[name] = got.get(name) === "1";
		$(name).setAttribute("aria-pressed", state[name]);
	}
	setView(["timeline", "heat"].includes(got.get("view")) && !$(got.get("view")).hidden ? got.get("view") : "graph");
	showRange();
	rebuild();
	written = hashText();
	restoring = false;
}
