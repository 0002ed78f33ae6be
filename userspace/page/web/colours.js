/* SPDX-License-Identifier: Apache-2.0 */
/* ---- colours, in the light and in the dark theme; text on all of them has a contrast of 4.5 at least ---- */
const COLOURS = {
	"kernel": ["#f0a868", "#84491a"], "native": ["#eed37c", "#6b5a19"], "stub": ["#dacdb0", "#5c533c"],
	"interpreted": ["#cbbcec", "#5a4488"], "C1": ["#a5dacb", "#296555"], "C2": ["#97d08b", "#35662c"],
	"compiled": ["#c0dfae", "#455f33"], "inlined": ["#a0cfee", "#255b76"],
	"class": ["#edb3b9", "#7f3744"], "incomplete": ["#ced2d8", "#535a64"],
};
const NEUTRAL = ["#dfe3e8", "#333a43"], MATCH = ["#f08cc4", "#a8246c"];
/* for what single threads wait for, and for what all of them wait for */
const WAITS = {
	"Contended monitors": ["#d9534f", "#c9433f"], "Object.wait": ["#5b8def", "#4a79d6"], "Off-CPU time": ["#b9c0c9", "#5d6672"],
	"GC pauses": ["#9b59b6", "#b07cc6"], "Safepoints": ["#d957a8", "#e985c0"], "Compilations": ["#3d6fb5", "#8fb4ea"],
};
/* from more to less, by theme: what weighs more than before is red */
const MORE = [[214, 64, 52], [196, 62, 54]], LESS = [[52, 110, 205], [58, 104, 190]], SAME = [[231, 233, 237], [52, 58, 67]];

function kindColour(kind) {
	return (COLOURS[data.kinds[kind]] || NEUTRAL)[dark() ? 1 : 0];
}

/* -1: all less, 0: nothing, 1: all more */
function changeColour(change) {
	const theme = dark() ? 1 : 0, to = (change > 0 ? MORE : LESS)[theme], part = Math.min(1, Math.abs(change)) * (theme ? 1 : 0.75);
	return "rgb(" + SAME[theme].map((from, k) => Math.round(from + (to[k] - from) * part)).join(",") + ")";
}

function hslColour(hue, saturation, light) {
	const part = n => {
		const k = (n + hue / 30) % 12, value = light - saturation * Math.min(light, 1 - light) * Math.max(-1, Math.min(k - 3, 9 - k, 1));
		return Math.round(255 * value).toString(16).padStart(2, "0");
	};
	return "#" + part(0) + part(8) + part(4);
}

/* A property of style.css. */
function themeColour(name) {
	return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
