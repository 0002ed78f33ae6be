/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of frames that fit: a name that is cut keeps its method. com.google.javascript.jscomp.Compiler.parse becomes
 * c.g.j.j.Compiler.parse, Compiler.parse, parse.
 */

/* A C++ name without arguments, template arguments and what a compiler has appended. */
function bareName(text) {
	let out = "", depth = 0;
	for (let i = 0; i < text.length; i++) {
		const c = text[i];
		if (c === "(" && depth === 0 && !text.startsWith("(anonymous", i) && i > 0)
			break;
		if (c === "<" && i > 0)
			depth++;
		else if (c === ">" && depth > 0)
			depth--;
		else if (depth === 0)
			out += c;
	}
	return depth === 0 && out.trim() !== "" ? out.trim() : text;
}

/* The name in shorter and shorter forms, the first one whole. */
function formsOf(text) {
	if (text.includes(" \u2026 "))
		return [text, "\u2026 " + bareName(text.split(" \u2026 ")[1])]; /* see fold.js */
	const java = /^[^\s([:]+\.[^\s(:]+$/.test(text), forms = [text];
	if (java) {
		const at = text.endsWith(">") ? text.lastIndexOf("<") - 1 : text.lastIndexOf("."), parts = text.slice(0, at).split(".");
		const method = text.slice(at + 1), type = parts.pop();
		if (parts.length)
			forms.push(parts.map(part => part[0] || "").join(".") + "." + type + "." + method, type + "." + method);
		forms.push(method);
	} else if (text[0] !== "[") {
		const parts = bareName(text).split("::");
		for (let k = 0; k < parts.length; k++)
			forms.push(parts.slice(k).join("::"));
	}
	return forms.filter((form, k) => k === 0 || (form !== "" && form.length < forms[k - 1].length));
}

/* Per text: its forms and their widths; measuring takes most of the time of drawing. */
const measured = new Map();

function fit(context, text, width) {
	let known = measured.get(text);
	if (!known) {
		context.font = FONT; /* nothing may have been drawn yet */
		known = formsOf(text).map(form => [form, context.measureText(form).width]);
		measured.set(text, known);
	}
	for (const [form, wide] of known)
		if (wide <= width)
			return form;
	const [last, wide] = known[known.length - 1];
	let count = Math.floor(last.length * (width - 9) / wide);
	while (count > 1 && context.measureText(last.slice(0, count) + "\u2026").width > width) /* its letters are wide */
		count--;
	return count > 1 ? last.slice(0, count) + "\u2026" : "";
}
