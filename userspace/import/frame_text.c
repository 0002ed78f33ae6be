// SPDX-License-Identifier: Apache-2.0
#include "frame_text.h"

#include <ctype.h>
#include <string.h>

#include <analyze/names.h>
#include <util/utf8.h>

/* ---- Java ---- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (c & 0x80);
}

static bool is_words(struct trace_str s, const char *others)
{
	for (size_t i = 0; i < s.len; i++)
		if (!is_word(s.str[i]) && (!s.str[i] || !strchr(others, s.str[i])))
			return false;
	return s.len > 0;
}

static bool is_method_name(struct trace_str s)
{
	if (str_equals(s, "<init>") || str_equals(s, "<clinit>"))
		return true;
	return is_words(s, "-") && !isupper((unsigned char)s.str[0]) && !isdigit((unsigned char)s.str[0]);
}

/* A class without the address that a hidden one has behind its name: "Foo$$Lambda/0x1f". */
static struct trace_str without_address(struct trace_str class_name)
{
	for (size_t i = class_name.len; i-- > 1;)
		if (strchr("./+", class_name.str[i]))
			return str_begins(str_part(class_name, i + 1, class_name.len), "0x")
				       ? str_part(class_name, 0, i)
				       : class_name;
	return class_name;
}

/*
 * By the custom of their names: the class begins with a capital, which the method does not. A name with '/' and '.' is
 * a path, or one of Go.
 */
static bool is_written_as_java(struct trace_str class_name, struct trace_str method)
{
	struct trace_str name = without_address(class_name);
	long slash = str_last(name, '/'), dot = str_last(name, '.'), last = slash > dot ? slash : dot;

	if (slash >= 0 && dot >= 0)
		return false;
	return is_words(name, "./") && isalpha((unsigned char)name.str[0]) && last + 1 < (long)name.len &&
	       isupper((unsigned char)name.str[last + 1]) && is_method_name(method);
}

/* The end of the name in front of parameters, "a/B.run(ILjava/lang/String;)V". */
static size_t name_end(struct trace_str text)
{
	const char *open = memchr(text.str, '(', text.len);

	return open && memchr(text.str, '.', (size_t)(open - text.str)) ? (size_t)(open - text.str) : text.len;
}

/* The colons of "La/b/Class;::method", which flame graph tools make "a/b/Class:::method". */
static const char *find_colons(struct trace_str name)
{
	const char *colons = memmem(name.str, name.len, ";::", 3);

	if (!colons && memchr(name.str, '/', name.len))
		colons = memmem(name.str, name.len, ":::", 3);
	return colons && colons > name.str && colons + 3 < name.str + name.len ? colons : NULL;
}

/* Splits "a/b/Class.method" and the forms with colons. `certain`: it is known to be Java's. */
static bool take_java(struct frame_text *to, struct trace_str text, bool certain)
{
	size_t end = name_end(text);
	struct trace_str name = str_part(text, 0, end), class_name, method;
	const char *colons = find_colons(name);
	long dot = str_last(name, '.');

	if (colons) {
		class_name = str_part(name, name.str[0] == 'L' && *colons == ';', (size_t)(colons - name.str));
		method = str_part(name, (size_t)(colons - name.str) + 3, name.len);
		certain = true;
	} else {
		class_name = str_part(name, 0, dot < 0 ? 0 : (size_t)dot);
		method = str_part(name, (size_t)(dot + 1), name.len);
	}
	if (!certain && !(dot > 0 && is_written_as_java(class_name, method)))
		return false;
	to->frame.class_name = class_name;
	if (is_words(class_name, "./+-;[")) {
		size_t len = class_name_from_signature(to->class_name, sizeof(to->class_name), class_name.str,
						       class_name.len);

		to->frame.class_name = (struct trace_str){to->class_name, (uint32_t)len};
	}
	to->frame.name = method;
	if (end < text.len)
		to->frame.signature = str_part(text, end, text.len);
	return true;
}

/* ---- all frames ---- */

static const struct {
	const char *suffix;
	enum import_code code;
} suffixes[] = {{"_[j]", IMPORT_COMPILED},
		{"_[i]", IMPORT_INLINED},
		{"_[0]", IMPORT_INTERPRETED},
		{"_[1]", IMPORT_C1},
		{"_[k]", IMPORT_KERNEL}};

/* "[incomplete: depth]", as braid writes it. */
static bool take_incomplete(struct frame_text *to, struct trace_str text)
{
	struct trace_str cause;

	if (!str_begins(text, "[incomplete: ") || !str_ends(text, "]"))
		return false;
	cause = str_part(text, strlen("[incomplete: "), text.len - 1);
	to->none = str_equals(cause, cause_name(CAUSE_NO_STACK));
	for (uint32_t i = BRAID_END_COMPLETE + 1; i < BRAID_END_COUNT; i++)
		if (str_equals(cause, cause_name(i))) {
			to->frame.code = IMPORT_END;
			to->frame.cause = i;
			return true;
		}
	return to->none;
}

void frame_text(struct frame_text *to, struct trace_str text, enum import_code code)
{
	to->frame = (struct import_frame){.code = code, .bci = -1};
	to->none = false;
	if (take_incomplete(to, text))
		return;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (!str_ends(text, suffixes[i].suffix) || text.len == strlen(suffixes[i].suffix))
			continue;
		text.len -= (uint32_t)strlen(suffixes[i].suffix);
		to->frame.code = suffixes[i].code;
		if (to->frame.code == IMPORT_KERNEL || !take_java(to, text, true))
			to->frame.name = text;
		return;
	}
	if (code != IMPORT_KERNEL && take_java(to, text, false))
		to->frame.code = IMPORT_COMPILED;
	else if (!str_equals(text, "[unknown]"))
		to->frame.name = text;
}
