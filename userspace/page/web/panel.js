/* SPDX-License-Identifier: Apache-2.0 */
/* ---- the panel beside the timeline: one interval with its stacks ---- */
let picked = null, details = null;

/* What is known of a segment. The number 0: nothing. */
function detailOf(number) {
	if (!details) {
		const packed = unpack(data.lanes.details || "");
		details = [{object: "", node: 0, waker: null, wakerNode: 0, endedBy: "", call: ""}];
		while (more(packed)) {
			const object = data.lanes.texts[take(packed)], node = take(packed), waker = take(packed), wakerNode = take(packed);
			const endedBy = data.lanes.texts[take(packed)], call = data.lanes.texts[take(packed)];
			details.push({object, node, waker: waker ? waker - 1 : null, wakerNode, endedBy, call});
		}
	}
	return details[number] || details[0];
}

/* What a segment is, as pairs of a title and a text. */
function describe(line, i) {
	const lane = line.lane, out = [["from", exactTime(lane.start[i])], ["for", lengthText(lane.end[i] - lane.start[i])]];
	if (lane.cpu !== undefined) {
		const thread = lane.code[i] >> 1;
		return {title: laneName(thread), state: lane.code[i] & 1 ? "ran on CPU " + lane.cpu + ", by its samples" : "ran on CPU " + lane.cpu, thread, pairs: out,
			node: 0, wakerNode: 0};
	}
	const detail = detailOf(lane.detail[i]);
	if (detail.call !== "")
		out.push(["system call", detail.call]);
	if (detail.object !== "")
		out.push(["what", detail.object]);
	if (detail.waker !== null)
		out.push([lane.code[i] & WOKEN ? "woken by" : "waker", laneName(detail.waker)]);
	else if (detail.endedBy !== "")
		out.push(["ended by", detail.endedBy]);
	return {title: lineName(line), state: states[lane.code[i] & 31][1] + (lane.code[i] & 32 ? ", idle" : ""), thread: lane.thread, pairs: out,
		node: detail.node, wakerNode: detail.wakerNode, running: line.thread !== undefined && (lane.code[i] & 31) === 0};
}

function spanText(i) {
	return {title: data.timeline.names[spans[i + 2]] || kindOf(i), state: kindOf(i), thread: isOfAll(kindOf(i)) ? null : spans[i + 1], node: 0, wakerNode: 0,
		pairs: [["from", exactTime(spans[i + 3])], ["for", lengthText(spans[i + 4])],
			isOfAll(kindOf(i)) ? ["pid", String(spans[i + 1])] : ["thread", laneName(spans[i + 1])]]};
}

/* The names of a stack's frames, innermost first; at most `most`. */
function framesOf(tree, node, most = Infinity) {
	const names = [];
	for (let i = node; i > 0 && names.length < most; i = tree.nodes[i * 3 - 3])
		names.push(tree.labels[tree.nodes[i * 3 - 2]]);
	return names;
}

/* Frames as a list of name and kind. */
function frameList(box, frames) {
	const list = element("ol", "", box);
	list.className = "stack";
	for (const [name, kind] of frames) {
		const frame = element("li", name, list);
		frame.title = data.kinds[kind];
		frame.style.borderLeftColor = kindColour(kind);
	}
}

/* The frames from the leaf to the root. */
function stackList(box, tree, node) {
	const frames = [];
	for (let i = node; i > 0; i = tree.nodes[i * 3 - 3])
		frames.push([tree.labels[tree.nodes[i * 3 - 2]], tree.nodes[i * 3 - 1]]);
	frameList(box, frames);
}

function stackLines(tree, node, title) {
	const head = element("h3", title, $("panel-body"));
	element("button", "Copy stack", head).addEventListener("click", () => copyNames(framesOf(tree, node)));
	stackList($("panel-body"), tree, node);
}

/* The samples of a thread, in order: times in us, and their nodes. Null: the page has none. */
function samplesOf(thread) {
	const g = data.graphs[0], t = g.unit === "samples" ? timesOf(g) : null;
	if (!t)
		return null;
	if (!t.of) {
		t.of = data.threads.map(() => ({at: [], node: [], weight: []}));
		for (let i = 0; i < t.at.length; i++) {
			t.of[t.thread[i]].at.push(t.at[i]);
			t.of[t.thread[i]].node.push(t.node[i]);
			t.of[t.thread[i]].weight.push(t.weight[i]);
		}
	}
	return t.of[thread];
}

/* The stacks that were sampled meanwhile, the most frequent ones first. */
function sampledStacks(thread, a, b) {
	const own = samplesOf(thread), counts = new Map();
	for (let i = own ? firstAt(own.at, a) : 0; own && i < own.at.length && own.at[i] <= b; i++)
		counts.set(own.node[i], (counts.get(own.node[i]) || 0) + own.weight[i]);
	return [...counts].sort((x, y) => y[1] - x[1]).slice(0, 3);
}

function explainButton(box, e) {
	if (e)
		element("button", "Explain " + (e.span ? "this span" : "this thread"), box).addEventListener("click", () => showExplanation(e));
}

/* All of a thread's life, or a span: where its time went. */
function pickLife(line) {
	const box = $("panel-body"), e = line.explained || explanationOf(line.lane.thread, line.lane.vthread), sums = line.lane ? [...line.lane.sums.entries()].filter(([, ns]) => ns > 0) : [];
	const all = line.lane ? line.lane.life : e.ns, time = e && e.span ? [e.from_us, e.to_us] : [line.lane.start_us, line.lane.end_us];
	picked = {line, time};
	$("panel").hidden = false;
	$("panel-title").textContent = lineName(line);
	box.replaceChildren();
	pairs(box, [["from", exactTime(time[0])], ["for", lengthText(time[1] - time[0])], ["thread", e && e.span ? ownerText(e) : ""]]);
	explainButton(box, e);
	if (e)
		element("p", share(e.parts[0]?.ns || 0, e.ns) + " " + (e.reason || ""), box).className = "because";
	bars(box, line.lane ? sums.sort((p, q) => q[1] - p[1]).map(([s, ns]) => [states[s][1], ns]) : e.parts.map(part => [part.what, part.ns]), all, "ns");
	layout();
}

function pick(line, i, isSpan) {
	const what = isSpan ? spanText(i) : describe(line, i), box = $("panel-body");
	picked = {line, i, isSpan, time: isSpan ? [spans[i + 3], spans[i + 3] + spans[i + 4]] : [line.lane.start[i], line.lane.end[i]]};
	$("panel").hidden = false;
	$("panel-title").textContent = what.title;
	box.replaceChildren();
	element("p", what.state, box);
	pairs(box, what.pairs);
	const [a, b] = picked.time;
	element("button", "Select this time", box).addEventListener("click", () => selectRange([a, b]));
	element("button", "Zoom to it", box).addEventListener("click", () => showTime(a - (b - a) / 4, b + (b - a) / 4));
	explainButton(box, what.thread === null ? undefined : explanationOf(what.thread, line.lane && line.lane.vthread));
	if (what.node)
		stackLines(data.lanes.stacks, what.node, "Stack");
	if (what.wakerNode)
		stackLines(data.lanes.stacks, what.wakerNode, "The waker's stack");
	if (what.running || (line.cpu !== undefined && !isSpan))
		for (const [node, count] of sampledStacks(what.thread, a, b))
			stackLines(data.graphs[0], node, amountOf(count, data.graphs[0].unit) + " on this stack");
	layout();
}

function unpick() {
	if (!picked)
		return;
	picked = null;
	$("panel").hidden = true;
	layout();
}

/* A frame around what is picked. */
function outline(colour) {
	const k = lines.findIndex(line => picked.line === line || (line.lane && line.lane === picked.line.lane) || (line.explained && line.explained === picked.line.explained)), [a, b] = picked.time;
	const x = Math.max(LEFT, xOf(a)), right = Math.min(view.clientWidth, xOf(b));
	if (k < 0 || right < LEFT || x > view.clientWidth)
		return;
	context.strokeStyle = colour;
	context.lineWidth = 2;
	context.strokeRect(x - 1, lineTop(k) + 1, Math.max(3, right - x + 2), ROW - 2);
	context.lineWidth = 1;
}
