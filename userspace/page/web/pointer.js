/* SPDX-License-Identifier: Apache-2.0 */
/* ---- pointer and keys in the timeline ---- */
let dragged = null;

/* What lies under the pointer: the line, a segment or a span of it. */
function timelineAt(x, y) {
	const line = y > RULER ? lines[Math.floor((y - RULER + view.scrollTop) / ROW)] : undefined, us = usOf(x);
	if (!line || x < LEFT || line.fold !== undefined)
		return {line, us, i: -1, span: -1};
	const slack = (to - from) / view.clientWidth * 2, covers = i => us >= spans[i + 3] - slack && us <= spans[i + 3] + spans[i + 4] + slack;
	const low = (y - RULER + view.scrollTop) % ROW >= ROW - 5, notes = line.lane && !low ? [] : line.notes;
	let i = -1;
	if (line.explained)
		return {line, us, i, span: -1, explained: us >= line.explained.from_us - slack && us <= line.explained.to_us + slack};
	if (line.lane) {
		const lane = segmentsOf(line.lane), near = firstAt(lane.end, us);
		i = near < lane.start.length && lane.start[near] <= us ? near : -1;
	}
	return {line, us, i, span: notes.find(covers) ?? (i < 0 || bandCounts(line, i) ? bands.find(covers) ?? -1 : -1)};
}

/* A band is what a thread without a reason of its own shows. */
function bandCounts(line) {
	return !line.lane;
}

function sharesAt(lane, us) {
	const runs = binsOf(lane);
	if (!runs)
		return [];
	const list = runs.shares[Math.min(firstAt(runs.until, us), runs.shares.length - 1)] || [], out = [];
	for (let k = 0; k < list.length; k += 2)
		out.push([list[k + 1], lane.cpu === undefined ? states[list[k]][1] : list[k] ? laneName(list[k] - 1) : "others"]);
	return out.sort((a, b) => b[0] - a[0]).map(([part, name]) => "about " + Math.round(part * 100) + " % " + name);
}

function tipTimeline(event) {
	const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
	cursor = x >= LEFT ? usOf(x) : null;
	if (dragged) {
		drag(x, y);
		return;
	}
	const {line, us, i, span, explained} = timelineAt(x, y), clickable = i >= 0 || span >= 0 || explained || (line && (line.fold !== undefined || x < LEFT));
	canvas.style.cursor = y <= RULER && x >= LEFT ? "col-resize" : clickable ? "pointer" : "crosshair";
	redraw();
	if (!line || x < LEFT) {
		$("tip").hidden = true;
		return;
	}
	const what = span >= 0 ? spanText(span) : i >= 0 ? describe(line, i) : null, sample = line.thread === undefined ? null : sampleNear(line.thread, us);
	if (line.explained && explained)
		showTip(lineName(line), [ownerText(line.explained), amountOf(line.explained.ns, "ns"), line.explained.reason || "", "click to explain"], event);
	else if (what)
		showTip(what.title, [what.state, what.pairs.map(([title, text]) => title + " " + text).join(", "), "at " + exactTime(us), ...tipStacks(what, sample)], event);
	else if (line.lane)
		showTip(lineName(line), ["at " + exactTime(us), ...unknownAt(line.lane, us), ...sharesAt(line.lane, us).slice(0, 3),
			...tipStacks({node: 0, wakerNode: 0}, sample)], event);
	else if (sample)
		showTip(laneName(line.thread), ["at " + exactTime(us), ...tipStacks({node: 0, wakerNode: 0}, sample)], event);
	else
		$("tip").hidden = true;
}

/* The sample of a thread that is drawn where the pointer is; null: none. */
function sampleNear(thread, us) {
	const own = samplesOf(thread), slack = (to - from) / (paneWidth - LEFT) * 2, near = own ? firstAt(own.at, us - slack) : 0;
	return own && near < own.at.length && own.at[near] <= us + slack ? {node: own.node[near], us: own.at[near]} : null;
}

const JAVA = new Set(["interpreted", "C1", "C2", "compiled", "inlined"]);

/* The innermost Java frame of a stack, or its innermost frame. */
function siteOf(tree, node) {
	for (let i = node; i > 0; i = tree.nodes[i * 3 - 3])
		if (JAVA.has(data.kinds[tree.nodes[i * 3 - 1]]))
			return i;
	return node;
}

/* The innermost frames of what a tip is about. */
function tipStacks(what, sample) {
	const out = [], add = (title, tree, node, most) => {
		const names = framesOf(tree, siteOf(tree, node), most);
		if (names.length)
			out.push(title + names.map(name => formsOf(name)[name.length > 60 ? Math.min(1, formsOf(name).length - 1) : 0]).join(" \u2190 "));
	};
	if (what.node)
		add("on ", data.lanes.stacks, what.node, 4);
	if (what.wakerNode)
		add("the waker on ", data.lanes.stacks, what.wakerNode, 3);
	if (sample && !what.node)
		add("sample on ", data.graphs[0], sample.node, 4);
	return out;
}

function unknownAt(lane, us) {
	return lane.start_us === undefined || binsOf(lane) ? [] : us >= lane.start_us && us <= lane.end_us ? ["not known: no record explains this time"] : ["the thread is not there"];
}

function downTimeline(event) {
	const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
	if (event.button)
		return;
	dragged = {x, y, moved: false, from, to, scroll: view.scrollTop, kind: x < LEFT ? "none" : y <= RULER ? "range" : event.shiftKey ? "zoom" : "move"};
	event.preventDefault();
}

function drag(x, y) {
	dragged.moved ||= Math.abs(x - dragged.x) > 3 || Math.abs(y - dragged.y) > 3;
	if (!dragged.moved)
		return;
	$("tip").hidden = true;
	if (dragged.kind === "move") {
		const us = (dragged.x - x) / (view.clientWidth - LEFT) * (dragged.to - dragged.from);
		view.scrollTop = dragged.scroll + dragged.y - y;
		showTime(dragged.from + us, dragged.to + us);
	} else if (dragged.kind !== "none") {
		state.range = [usOf(Math.min(x, dragged.x)), usOf(Math.max(x, dragged.x))];
		redraw();
	}
}

/* The end of a drag, or a click. */
function endDrag() {
	const was = dragged;
	dragged = null;
	if (!was)
		return;
	if (!was.moved)
		clickTimeline(was.x, was.y);
	else if (was.kind === "range")
		selectRange(state.range);
	else if (was.kind === "zoom") {
		const [a, b] = state.range;
		state.range = null;
		showRange();
		showTime(a, b);
	}
	changed(true);
}

function clickTimeline(x, y) {
	const {line, i, span, explained} = timelineAt(x, y);
	if (y <= RULER) {
		selectRange(null);
	} else if (line && line.fold !== undefined) {
		openFolds.set(line.fold, !line.closed);
		lay();
	} else if (line && x < LEFT && line.thread !== undefined) {
		const chosen = state.thread === String(line.thread);
		chooseThread(chosen ? "" : String(line.thread));
		chosen || !line.lane ? unpick() : pickLife(line);
	} else if (line && (explained || (x < LEFT && line.cpu === undefined && (line.lane || line.explained)))) {
		pickLife(line);
	} else if (line && span >= 0) {
		pick(line, span, true);
	} else if (line && i >= 0) {
		pick(line, i, false);
	} else {
		unpick();
	}
}

function wheelTimeline(event) {
	const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
	if (event.ctrlKey || event.metaKey || y <= RULER) {
		zoomTime(Math.exp(Math.max(-240, Math.min(240, event.deltaY)) / 300), usOf(x));
	} else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
		const us = (event.deltaX || event.deltaY) / (view.clientWidth - LEFT) * (to - from);
		showTime(from + us, to + us);
	} else {
		return;
	}
	event.preventDefault();
}

/* The keyboard's line: the next one, its segments in turn, and what Enter does with it. */
function moveLine(step) {
	lineAt = Math.max(0, Math.min(lines.length - 1, lineAt + step));
	const line = lines[lineAt], top = lineTop(lineAt);
	if (top < RULER)
		view.scrollTop += top - RULER;
	else if (top + ROW > view.clientHeight)
		view.scrollTop += top + ROW - view.clientHeight;
	if (line)
		$("matched").textContent = line.fold !== undefined ? line.text : lineName(line);
}

function openLine() {
	const line = lines[lineAt];
	if (line && line.fold !== undefined) {
		openFolds.set(line.fold, !line.closed);
		lay();
	} else if (line && line.explained) {
		pickLife(line);
	} else if (line && line.lane) {
		moveSegment(0);
	}
}

/* Explains the span or the thread of the keyboard's line, or of what is picked. */
function explainLine() {
	const line = picked ? picked.line : lines[lineAt], e = line && (line.explained || (line.lane && line.cpu === undefined && explanationOf(line.lane.thread, line.lane.vthread)));
	if (e)
		showExplanation(e);
	else
		say("The page does not explain this line");
}

/* Picks the segment in the middle of what is shown, or the one before or after the picked one. */
function moveSegment(step) {
	const line = lines[lineAt], lane = line && line.lane && segmentsOf(line.lane);
	if (!lane || !lane.start.length)
		return;
	const of = picked && picked.i >= 0 && !picked.isSpan && picked.line.lane === lane ? picked.i + step : firstAt(lane.end, (from + to) / 2);
	const i = Math.max(0, Math.min(lane.start.length - 1, of)), wide = to - from;
	pick(line, i, false);
	if (lane.start[i] < from || lane.end[i] > to)
		showTime((lane.start[i] + lane.end[i]) / 2 - wide / 2, (lane.start[i] + lane.end[i]) / 2 + wide / 2);
}

/* True: the key has a meaning. */
function keyTimeline(event) {
	const wide = to - from, middle = cursor !== null && cursor >= from && cursor <= to ? cursor : (from + to) / 2;
	const keys = {
		w: () => zoomTime(1 / 1.5, middle), s: () => zoomTime(1.5, middle), a: () => showTime(from - wide / 5, to - wide / 5),
		d: () => showTime(from + wide / 5, to + wide / 5), ArrowUp: () => moveLine(-1), ArrowDown: () => moveLine(1), Enter: openLine,
		e: explainLine, ",": () => moveSegment(-1), ".": () => moveSegment(1), x: () => selectRange([from, to]),
		PageUp: () => { view.scrollTop -= view.clientHeight - RULER; }, PageDown: () => { view.scrollTop += view.clientHeight - RULER; },
		"0": () => showTime(begin, end), f: () => state.range && showTime(state.range[0], state.range[1]),
	};
	keys.ArrowLeft = keys.a;
	keys.ArrowRight = keys.d;
	keys["+"] = keys["="] = keys.w;
	keys["-"] = keys.s;
	if (!keys[event.key])
		return false;
	keys[event.key]();
	redraw();
	return true;
}
