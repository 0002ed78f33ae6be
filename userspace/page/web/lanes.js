/* SPDX-License-Identifier: Apache-2.0 */
/* ---- lanes: what they are, and which rows show them ---- */
const SPAN = 5, VIRTUAL_OPEN = 50; /* more lanes of virtual threads are folded at first */
const isOfAll = kind => kind === "GC pauses" || kind === "Safepoints";
const laneOf = new Map(), notesOf = new Map(), openFolds = new Map();
let spans, cpuLanes, vlanes, hasLives, lines = [], bands = [], laneFilter = "";

function readLanes() {
	spans = data.timeline.spans;
	cpuLanes = data.lanes ? [...data.lanes.cpus].sort((a, b) => a.cpu - b.cpu) : [];
	hasLives = Boolean(data.lanes && data.lanes.threads);
	laneOf.clear();
	notesOf.clear();
	vlanes = data.lanes && data.lanes.vthreads || [];
	for (const lane of hasLives ? [...data.lanes.threads, ...vlanes] : []) {
		if (lane.vthread === undefined)
			laneOf.set(lane.thread, lane);
		lane.sums = new Float64Array(states.length);
		for (let k = 0; k < lane.ns.length; k += 2)
			lane.sums[lane.ns[k]] = lane.ns[k + 1];
		lane.life = lane.sums.reduce((a, b) => a + b, 0);
		lane.idles = lane.life - lane.sums[IDLE] < lane.life / 50;
	}
	for (let i = 0; i < spans.length; i += SPAN)
		if (!isOfAll(kindOf(i))) {
			if (!notesOf.has(spans[i + 1]))
				notesOf.set(spans[i + 1], []);
			notesOf.get(spans[i + 1]).push(i);
		}
}

function kindOf(i) {
	return data.timeline.kinds[spans[i]];
}

/* The segments of a lane in order, times in us; made when somebody looks. */
function segmentsOf(lane) {
	if (lane.start)
		return lane;
	const packed = unpack(lane.segments), count = lane.kept;
	Object.assign(lane, {start: new Float64Array(count), end: new Float64Array(count), code: new Int32Array(count), detail: new Int32Array(count)});
	for (let i = 0, at = begin * 10; i < count; i++) {
		at += take(packed);
		lane.start[i] = at / 10;
		at += take(packed);
		lane.end[i] = at / 10;
		lane.code[i] = take(packed);
		lane.detail[i] = lane.cpu === undefined ? take(packed) : 0;
	}
	lane.segments = null;
	return lane;
}

/* The bins of a lane as runs: until when, and keys with their shares in turn. */
function binsOf(lane) {
	if (lane.runs !== undefined || !lane.bins)
		return lane.runs ||= null;
	const packed = unpack(lane.bins), until = [], shares = [];
	for (let us = begin; more(packed);) {
		const head = take(packed), list = [];
		for (let k = head % 8; k > 0; k--) {
			const one = take(packed);
			list.push(Math.floor(one / 16), (one % 16 + 1) / 16);
		}
		until.push(us += Math.floor(head / 8) * lane.bin_ns / 1000);
		shares.push(list);
	}
	lane.bins = null;
	return lane.runs = {until: Float64Array.from(until), shares};
}

function matchesFilter(text) {
	return laneFilter === "" || text.toLowerCase().includes(laneFilter.toLowerCase());
}

function busy(lane) {
	return lane.sums[0] + lane.sums[1];
}

/* How much of a life is neither idle nor unknown. */
function awake(lane) {
	return lane.life - lane.sums[IDLE] - (lane.sums[states.length - 1] || 0);
}

/* The name of a line that is no fold. */
function lineName(line) {
	return line.cpu !== undefined ? "CPU " + line.cpu : line.explained ? explanationTitle(line.explained) : line.lane && line.lane.vthread !== undefined ? vlaneName(line.lane) : laneName(line.thread);
}

function vlaneName(lane) {
	return lane.name + " (#" + lane.number + ")";
}

/* Threads by process, the busiest first. */
function byProcess() {
	const found = new Map();
	const processOf = t => {
		if (!found.has(t.pid))
			found.set(t.pid, {pid: t.pid, name: t.process, threads: [], virtual: [], busy: 0});
		return found.get(t.pid);
	};
	const threads = hasLives ? [...laneOf.keys()] : data.threads.map((_, i) => i).filter(i => samplesOf(i)?.at.length);
	for (const thread of [...new Set([...threads, ...notesOf.keys()])]) {
		const t = data.threads[thread];
		if (state.process !== "" && String(t.pid) !== state.process)
			continue;
		processOf(t).threads.push(thread);
		processOf(t).busy += laneOf.has(thread) ? busy(laneOf.get(thread)) : 0;
	}
	for (const lane of vlanes)
		if (state.process === "" || String(data.threads[lane.thread].pid) === state.process)
			processOf(data.threads[lane.thread]).virtual.push(lane);
	const busier = (p, q) => busy(q) - busy(p) || awake(q) - awake(p);
	const rank = (a, b) => {
		const p = laneOf.get(a), q = laneOf.get(b);
		return p && q ? busier(p, q) || a - b : p ? -1 : q ? 1 : a - b;
	};
	for (const process of found.values()) {
		process.threads.sort(rank);
		process.virtual.sort((p, q) => busier(p, q) || p.vthread - q.vthread);
	}
	return [...found.values()].sort((a, b) => b.busy - a.busy || a.pid - b.pid);
}

function isFolded(key, usual) {
	return laneFilter === "" && (openFolds.has(key) ? openFolds.get(key) : usual);
}

function addFold(key, text, usual, fill) {
	const closed = isFolded(key, usual);
	lines.push({fold: key, closed, usual, text});
	if (!closed)
		fill();
}

/* The slowest spans, as bars: the part of the time that each took. */
function addSpans() {
	const slow = seenExplanations().filter(e => e.span && matchesFilter(explanationTitle(e)));
	if (slow.length)
		addFold("spans", WHYS.span, false, () => slow.forEach(e => lines.push({explained: e, notes: []})));
}

function addThreads(process) {
	const wantedOnes = process.threads.filter(thread => matchesFilter(laneName(thread)));
	const idle = wantedOnes.filter(thread => laneOf.has(thread) && laneOf.get(thread).idles);
	const show = thread => lines.push({thread, lane: laneOf.get(thread), notes: notesOf.get(thread) || []});
	const virtual = process.virtual.filter(lane => matchesFilter(vlaneName(lane)));
	if (wantedOnes.length + virtual.length === 0)
		return;
	addFold("p" + process.pid, process.name + " (" + process.pid + "), " + wantedOnes.length + (wantedOnes.length === 1 ? " thread" : " threads"), false, () => {
		wantedOnes.filter(thread => !idle.includes(thread)).forEach(show);
		if (idle.length)
			addFold("i" + process.pid, idle.length + (idle.length === 1 ? " idle thread" : " idle threads"), true, () => idle.forEach(show));
		if (virtual.length)
			addFold("v" + process.pid, countText(virtual.length, "virtual thread") + ", the busiest first", virtual.length > VIRTUAL_OPEN,
				() => virtual.forEach(lane => lines.push({lane, notes: []})));
	});
}

/* The rows of the timeline, without the ruler. */
function buildLines() {
	lines = [];
	bands = [];
	for (let i = 0; i < spans.length; i += SPAN)
		if (isOfAll(kindOf(i)) && (state.process === "" || String(spans[i + 1]) === state.process))
			bands.push(i);
	const cpus = cpuLanes.filter(lane => matchesFilter("CPU " + lane.cpu));
	if (cpus.length)
		addFold("cpus", "CPUs", false, () => cpus.forEach(lane => lines.push({lane, cpu: lane.cpu, notes: []})));
	addSpans();
	byProcess().forEach(addThreads);
}

/* Unfolds what hides a thread's line, scrolls to it, and returns it; undefined: it has none. */
function revealThread(thread, vthread) {
	const find = () => lines.findIndex(line => vthread ? line.lane && line.lane.vthread === vthread : line.thread === thread);
	const pid = data.threads[thread].pid;
	for (const key of ["p" + pid, vthread ? "v" + pid : "i" + pid])
		if (find() < 0) {
			openFolds.set(key, false);
			lay();
		}
	const k = find();
	if (k < 0)
		return undefined;
	lineAt = k;
	view.scrollTop = Math.max(0, k * ROW - view.clientHeight / 2);
	return lines[k];
}
