/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ---- lanes as pixels ----
 * Canvas calls for a million intervals take seconds, so lanes are painted into an array. What is narrower than a column of
 * pixels shares it.
 */
const STATE_COLOURS = {
	"running": ["#2f9e58", "#48bd75"], "runnable": ["#efb000", "#f5c842"], "gc": ["#8e44ad", "#b480d2"], "safepoint": ["#d957a8", "#e985c0"],
	"monitor": ["#d8392b", "#f2655a"], "parked": ["#4a80d8", "#6b9cec"], "waiting": ["#2ba3b4", "#4fc0ce"], "sleeping": ["#a8b8d0", "#566b8c"],
	"futex": ["#7d67d4", "#9c8bea"], "poll": ["#93aab0", "#587a83"], "socket": ["#d9822b", "#e69a52"], "pipe": ["#c9a06a", "#9a7648"],
	"file": ["#a08a3c", "#c9b15c"], "block": ["#8f4a2b", "#c4704b"], "fault": ["#f08aa6", "#f0a0b6"], "stopped": ["#5b6067", "#a3a8b0"],
	"child": ["#9cb04a", "#b4c766"], "call": ["#b3a6cf", "#7d7299"], "blocked": ["#b4bac3", "#69727e"], "idle": ["#dde2e8", "#343b44"],
	"unknown": ["#e8eaee", "#262b32"],
};
const states = data.lanes ? data.lanes.states : [];
const IDLE = states.findIndex(state => state[0] === "idle");
let pixels = null, image = null, inks = [];

function stateColour(s) {
	return STATE_COLOURS[states[s][0]][dark() ? 1 : 0];
}

/* A thread's colour in the lanes of CPUs: neighbours in the list differ. */
function threadColour(thread) {
	return hslColour(thread * 137.5 % 360, 0.5, dark() ? 0.5 : 0.66);
}

function hslColour(hue, saturation, light) {
	const part = n => {
		const k = (n + hue / 30) % 12, value = light - saturation * Math.min(light, 1 - light) * Math.max(-1, Math.min(k - 3, 9 - k, 1));
		return Math.round(255 * value).toString(16).padStart(2, "0");
	};
	return "#" + part(0) + part(8) + part(4);
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

function fillPixels(left, top, right, bottom, ink) {
	left = Math.max(0, left);
	right = Math.min(image.width, right);
	for (let y = Math.max(0, top); y < Math.min(image.height, bottom); y++)
		pixels.fill(ink, y * image.width + left, y * image.width + right);
}

/*
 * Paints a lane from keys and times that come in order. `style(key)` is {ink, order, low}: a low one is a line. `low` and
 * `high` are the rows of pixels.
 */
function painter(left, right, usLeft, usPerPixel, low, high, style) {
	const shares = new Map();
	let column = -1;

	function whole(key, from, to) {
		const s = style(key);
		fillPixels(from, s.low ? high - Math.max(2, (high - low) >> 2) : low, to, high, s.ink);
	}

	function flush() {
		if (column < 0 || shares.size === 0)
			return;
		if (shares.size === 1) {
			const [key, share] = shares.entries().next().value;
			if (share > 0.5 || style(key).low)
				whole(key, column, column + 1);
			else
				fillPixels(column, high - Math.max(2, Math.round(share * (high - low))), column + 1, high, style(key).ink);
		} else {
			let bottom = high;
			for (const [key, share] of [...shares].sort((a, b) => style(a[0]).order - style(b[0]).order)) {
				const tall = style(key).low ? 0 : Math.max(1, Math.round(share * (high - low)));
				fillPixels(column, Math.max(low, bottom - tall), column + 1, bottom, style(key).ink);
				bottom -= tall;
			}
		}
		shares.clear();
	}

	function share(key, at, part) {
		if (at !== column) {
			flush();
			column = at;
		}
		shares.set(key, (shares.get(key) || 0) + part);
	}

	return {
		add(key, from, to) {
			const x = Math.max(left, left + (from - usLeft) / usPerPixel), end = Math.min(right, left + (to - usLeft) / usPerPixel);
			if (!(x < end))
				return;
			const first = Math.floor(x), last = Math.floor(end);
			if (first === last) {
				share(key, first, end - x);
				return;
			}
			share(key, first, first + 1 - x);
			if (last > first + 1) {
				flush();
				column = -1;
				whole(key, first + 1, last);
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
