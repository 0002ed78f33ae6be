/* SPDX-License-Identifier: Apache-2.0 */
/* ---- the beginning: listeners, and the view that the address names ---- */
function listenToChoices() {
	for (const name of Object.keys(VIEWS))
		$(VIEWS[name]).addEventListener("click", () => show(name));
	SWITCHES.forEach(press);
	for (const by of ["before", "after"])
		$("by-" + by).addEventListener("click", () => {
			chooseSide(by);
			rebuild();
			changed(true);
		});
	$("graph").addEventListener("change", event => {
		choose(+event.target.value);
		match();
		$(VIEWS[state.view]).hidden ? turnTo("graph") : rebuild();
		changed(true);
	});
	$("process").addEventListener("change", event => {
		state.process = event.target.value;
		fillThreads();
		rebuild();
		changed(true);
	});
	$("thread").addEventListener("change", event => chooseThread(event.target.value));
	$("search").addEventListener("input", searched);
	$("lanes").addEventListener("input", event => {
		laneFilter = event.target.value;
		lay();
		changed(false);
	});
	$("range").addEventListener("click", () => selectRange(null));
}

function listenToButtons() {
	$("reset").addEventListener("click", () => zoomTo(flame, 0));
	$("time-all").addEventListener("click", () => showTime(begin, end));
	$("time-in").addEventListener("click", () => zoomTime(1 / 2, (from + to) / 2));
	$("time-out").addEventListener("click", () => zoomTime(2, (from + to) / 2));
	$("panel-close").addEventListener("click", unpick);
	$("detail-close").addEventListener("click", () => active && selectFrame(active, -1));
	$("detail-copy").addEventListener("click", copyStack);
	$("detail-method").addEventListener("click", () => active && showMethod(frameName(active, active.focus)));
	$("more-methods").addEventListener("click", () => {
		shownRows += ROWS_AT_ONCE;
		fillTable();
	});
	$("help-open").addEventListener("click", () => help($("help").hidden));
	$("help-close").addEventListener("click", () => help(false));
	$("theme").addEventListener("click", () => {
		document.documentElement.dataset.theme = dark() ? "light" : "dark";
		themed();
	});
	PREFERS_DARK.addEventListener("change", themed);
}

function listenToPointer() {
	const place = event => {
		const at = canvas.getBoundingClientRect();
		return [event.clientX - at.left, event.clientY - at.top];
	};
	canvas.addEventListener("pointermove", event => {
		if (state.view === "heat")
			heatMove(event, ...place(event));
		else if (state.view === "timeline" && !dragged)
			tipTimeline(event);
	});
	canvas.addEventListener("pointerleave", () => dragged || untip());
	addEventListener("pointermove", event => dragged && tipTimeline(event));
	canvas.addEventListener("pointerdown", event => {
		if (state.view === "timeline")
			downTimeline(event);
		else if (state.view === "heat" && event.button === 0)
			heatDown(...place(event));
	});
	addEventListener("pointerup", event => {
		if (state.view === "heat")
			heatUp(...place(event));
		endDrag();
	});
	addEventListener("pointercancel", () => { dragged = null; });
	canvas.addEventListener("wheel", event => state.view === "timeline" && wheelTimeline(event), {passive: false});
	view.addEventListener("scroll", () => {
		$("tip").hidden = true;
		draw();
	});
	addEventListener("resize", () => state.view === "methods" && layMethods());
	/* what lies beside a view makes it smaller */
	const watch = typeof ResizeObserver === "function" ? new ResizeObserver(boxes => boxes.forEach(box => resized(box.target))) : null;
	[flame, callers, callees].forEach(f => watch?.observe(f.box));
	addEventListener("popstate", () => readHash(addressed()));
}

function resized(box) {
	const f = [flame, callers, callees].find(one => one.box === box);
	if (box.clientHeight === 0 || (f === flame && ["recording", "explain"].includes(state.view)))
		return;
	if (f === flame && state.view !== "graph")
		layout();
	else if (f.tree)
		layFlame(f, true);
}

/* Keys that are the same wherever the focus is. True: the key has a meaning. */
function keyPage(event) {
	const field = $(state.view === "timeline" ? "lanes" : "search"), tabs = Object.keys(VIEWS).filter(name => !$(VIEWS[name]).hidden);
	if (event.key === "/" && !field.hidden) {
		field.focus();
		field.select();
	} else if (event.key === "?") {
		help($("help").hidden);
	} else if (/^[1-6]$/.test(event.key) && tabs[event.key - 1]) {
		show(tabs[event.key - 1]);
	} else if (state.view === "timeline") {
		return keyTimeline(event);
	} else if (state.view === "heat") {
		return keyHeat(event);
	} else if (state.view === "explain") {
		return keyExplain(event);
	} else if (state.view === "graph" && (event.key === "i" || event.key === "r")) {
		$(event.key === "i" ? "icicle" : "reverse").click();
	} else {
		return state.view === "graph" && keyFlame(flame, event);
	}
	return true;
}

/* The arrow keys go through the tabs. */
function keyTabs(event) {
	const tabs = Object.values(VIEWS).filter(id => !$(id).hidden), at = tabs.indexOf(event.target.id), step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
	if (!step)
		return;
	const next = tabs[(at + step + tabs.length) % tabs.length];
	$(next).focus();
	$(next).click();
	event.preventDefault();
	event.stopPropagation();
}

function listenToKeys() {
	$("tabs").addEventListener("keydown", keyTabs);
	$("method-rows").addEventListener("keydown", event => {
		if (keyTable(event)) {
			event.preventDefault();
			event.stopPropagation();
		}
	});
	[flame, callers, callees].forEach(listen);
	addEventListener("keydown", event => {
		const at = document.activeElement, typing = at && ["INPUT", "SELECT", "TEXTAREA"].includes(at.tagName), pressing = at && at.tagName === "BUTTON" && (event.key === "Enter" || event.key === " ");
		if (event.key === "Escape") {
			escape();
			if (typing)
				at.blur();
		} else if (!typing && !pressing && !event.ctrlKey && !event.metaKey && !event.altKey && keyPage(event)) {
			event.preventDefault();
		}
	});
}

/* What follows from the data, and what can be chosen of them. */
function readData() {
	readStates();
	readLanes();
	readTimes();
	readExplained();
	details = null;
	$("graph").replaceChildren();
	data.graphs.forEach((g, i) => option($("graph"), i, g.name));
	about();
	$("timeline").hidden = spans.length === 0 && cpuLanes.length === 0 && !hasLives;
	$("heat").hidden = !data.graphs.some(g => g.times);
	$("explain").hidden = explained.length === 0;
	fillProcesses();
}

const addressed = () => location.hash.slice(1);
readData();
listenToChoices();
listenToButtons();
listenToPointer();
listenToKeys();
readHash(addressed());
pressed("theme", dark());
$("view").focus();
