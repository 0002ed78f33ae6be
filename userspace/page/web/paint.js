/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ---- lanes as pixels ----
 * Canvas calls for a million intervals take seconds, so lanes are painted into an array. What is narrower than a column of
 * pixels shares it.
 */
const STATE_COLOURS = {
	"running": ["#2f9e58", "#48bd75"], "runnable": ["#efb000", "#f5c842"], "carrier": ["#b58500", "#cfa53a"], "gc": ["#8e44ad", "#b480d2"], "safepoint": ["#d957a8", "#e985c0"],
	"monitor": ["#d8392b", "#f2655a"], "parked": ["#4a80d8", "#6b9cec"], "waiting": ["#2ba3b4", "#4fc0ce"], "sleeping": ["#a8b8d0", "#566b8c"],
	"futex": ["#7d67d4", "#9c8bea"], "poll": ["#93aab0", "#587a83"], "socket": ["#d9822b", "#e69a52"], "pipe": ["#c9a06a", "#9a7648"],
	"file": ["#a08a3c", "#c9b15c"], "block": ["#8f4a2b", "#c4704b"], "fault": ["#f08aa6", "#f0a0b6"], "stopped": ["#5b6067", "#a3a8b0"],
	"child": ["#9cb04a", "#b4c766"], "call": ["#b3a6cf", "#7d7299"], "blocked": ["#b4bac3", "#69727e"], "idle": ["#dde2e8", "#343b44"],
	"unknown": ["#9aa2ad", "#6b7480"],
};
const inks = new Map();
let states, IDLE, pixels = null, image = null;

function readStates() {
	states = data.lanes ? data.lanes.states : [];
	IDLE = states.findIndex(state => state[0] === "idle");
	inks.clear();
}

function stateColour(s) {
	return STATE_COLOURS[states[s][0]][dark() ? 1 : 0];
}

/* A thread's colour in the lanes of CPUs: neighbours in the list differ. */
function threadColour(thread) {
	return hslColour(thread * 137.5 % 360, 0.5, dark() ? 0.5 : 0.66);
}

function inkOf(colour) {
	const n = parseInt(colour.slice(1), 16);
	return (255 << 24 | (n & 255) << 16 | n & 0xff00 | n >> 16) >>> 0;
}

function beginPaint() {
	if (!image || image.width !== canvas.width || image.height !== canvas.height) {
		image = context.createImageData(Math.max(1, canvas.width), Math.max(1, canvas.height));
		pixels = new Uint32Array(image.data.buffer);
	}
	pixels.fill(0);
}

function endPaint() {
	context.putImageData(image, 0, 0);
}

const NARROW = 24; /* pixels that are sooner written one by one */

function fillPixels(left, top, right, bottom, ink) {
	left = Math.max(0, left);
	right = Math.min(image.width, right);
	const wide = image.width, end = Math.min(image.height, bottom);
	for (let y = Math.max(0, top); y < end; y++)
		if (right - left > NARROW)
			pixels.fill(ink, y * wide + left, y * wide + right);
		else
			for (let at = y * wide + left, last = y * wide + right; at < last; at++)
				pixels[at] = ink;
}

/* The styles of a lane's keys: inks and which of them are lines. A faint lane is only a background. */
function stylesOf(lane, faint) {
	const of = (lane.cpu === undefined ? "states" : "threads") + dark() + faint;
	if (!inks.has(of)) {
		const colours = lane.cpu === undefined ? states.map((_, s) => stateColour(s)) : ["#8a919c", ...data.threads.map((_, n) => threadColour(n))];
		inks.set(of, {ink: Uint32Array.from(colours, colour => (inkOf(colour) & (faint ? 0x60ffffff : 0xffffffff)) >>> 0), low: lane.cpu === undefined ? IDLE : -1});
	}
	return inks.get(of);
}

/*
 * Paints a lane from keys and times that come in order, between the columns `left` and `right` and the rows `low` and
 * `high` of pixels. What shares a column is stacked in the order of keys.
 */
function painter(left, right, usLeft, usPerPixel, low, high, styles) {
	const keys = new Int32Array(64), parts = new Float64Array(64), wide = image.width, tall = high - low, thin = Math.max(2, tall >> 2);
	let column = -1, count = 0;
	low = Math.max(0, Math.min(low, image.height));
	high = Math.max(0, Math.min(high, image.height));

	/* Most of the time of drawing is spent here. */
	function flush() {
		if (!count)
			return;
		for (let i = 1; i < count; i++)
			for (let k = i; k > 0 && keys[k - 1] > keys[k]; k--) {
				const key = keys[k], part = parts[k];
				keys[k] = keys[k - 1];
				parts[k] = parts[k - 1];
				keys[k - 1] = key;
				parts[k - 1] = part;
			}
		let y = high, at = (high - 1) * wide + column;
		for (let i = 0; i < count; i++) {
			const isLow = keys[i] === styles.low, most = isLow ? (count === 1 ? thin : 0) : parts[i] > 0.97 ? tall : Math.max(1, Math.round(parts[i] * tall));
			const top = Math.max(low, y - most), ink = styles.ink[keys[i]];
			for (; y > top; y--, at -= wide)
				pixels[at] = ink;
		}
		for (; y > low; y--, at -= wide)
			pixels[at] = 0;
		count = 0;
	}

	function share(key, at, part) {
		let i = 0;
		if (at !== column) {
			flush();
			column = at;
		}
		while (i < count && keys[i] !== key)
			i++;
		if (i === 64)
			return;
		if (i === count) {
			keys[count] = key;
			parts[count++] = 0;
		}
		parts[i] += part;
	}

	return {
		add(key, from, to) {
			const x = Math.max(left, left + (from - usLeft) / usPerPixel), end = Math.min(right, left + (to - usLeft) / usPerPixel);
			const first = Math.floor(x), last = Math.floor(end);
			if (!(x < end))
				return;
			if (first === last) {
				share(key, first, end - x);
				return;
			}
			share(key, first, first + 1 - x);
			if (last > first + 1) {
				flush();
				column = -1;
				fillPixels(first + 1, low, last, high, key === styles.low ? 0 : styles.ink[key]);
				if (key === styles.low)
					fillPixels(first + 1, high - thin, last, high, styles.ink[key]);
			}
			if (end > last)
				share(key, last, end - last);
		},
		/* Several keys in the same time, which come as key and share in turn. */
		mix(list, from, to) {
			const x = Math.max(left, left + (from - usLeft) / usPerPixel), end = Math.min(right, left + (to - usLeft) / usPerPixel);
			for (let at = Math.floor(x); at < end; at++)
				for (let k = 0; k < list.length; k += 2)
					share(list[k], at, (Math.min(end, at + 1) - Math.max(x, at)) * list[k + 1]);
		},
		end: flush,
	};
}
