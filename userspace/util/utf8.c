// SPDX-License-Identifier: Apache-2.0
#include "utf8.h"

#include <ctype.h>
#include <string.h>

#define REPLACEMENT 0xfffdU
#define ZERO_SYMBOL 0x2400U

struct text {
	char *to;
	size_t size;
	size_t length;
	bool full;
};

bool utf8_steers(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) ||
	       c == 0x200e || c == 0x200f || c == 0x61c || c == 0xfeff;
}

size_t utf8_put_unit(char *to, uint16_t unit)
{
	if (unit && unit < 0x80) {
		to[0] = (char)unit;
		return 1;
	}
	if (unit < 0x800) {
		to[0] = (char)(0xc0 | unit >> 6);
		to[1] = (char)(0x80 | (unit & 0x3f));
		return 2;
	}
	to[0] = (char)(0xe0 | unit >> 12);
	to[1] = (char)(0x80 | (unit >> 6 & 0x3f));
	to[2] = (char)(0x80 | (unit & 0x3f));
	return 3;
}

size_t utf8_put_units(char *to, const uint8_t *units, size_t bytes, bool wide)
{
	size_t width = wide ? 2 : 1, used = 0;

	for (size_t i = 0; i + width <= bytes; i += width)
		used += utf8_put_unit(to + used, (uint16_t)(units[i] | (wide ? units[i + 1] << 8 : 0)));
	return used;
}

/* `c` is at most U+10FFFF, no surrogate and not zero. */
static size_t encode(char b[4], uint32_t c)
{
	if (c < 0x10000)
		return utf8_put_unit(b, (uint16_t)c);
	b[0] = (char)(0xf0 | c >> 18);
	b[1] = (char)(0x80 | (c >> 12 & 0x3f));
	b[2] = (char)(0x80 | (c >> 6 & 0x3f));
	b[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

static void text_add(struct text *t, uint32_t c)
{
	char b[4];
	size_t n = encode(b, c);

	if (t->full || n >= t->size - t->length) {
		t->full = true; /* nothing shorter may follow an omitted character */
		return;
	}
	memcpy(t->to + t->length, b, n);
	t->length += n;
}

/*
 * The value of a sequence of `n` bytes whose first has the payload bits `lead`, or UINT32_MAX when a byte is missing or
 * wrong.
 */
static uint32_t sequence(uint32_t lead, const unsigned char *p, size_t length, size_t n)
{
	uint32_t c = lead;

	if (length < n)
		return UINT32_MAX;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return UINT32_MAX;
		c = c << 6 | (p[i] & 0x3f);
	}
	return c;
}

static uint32_t decode_three(const unsigned char *p, size_t length, size_t *used)
{
	uint32_t c = sequence(p[0] & 0x0f, p, length, 3), low;

	if (c == UINT32_MAX || c < 0x800)
		return REPLACEMENT;
	*used = 3;
	if (c < 0xd800 || c > 0xdfff)
		return c;
	if (c > 0xdbff || length < 6 || p[3] != 0xed)
		return REPLACEMENT;
	low = sequence(p[3] & 0x0f, p + 3, length - 3, 3);
	if (low == UINT32_MAX || low < 0xdc00 || low > 0xdfff)
		return REPLACEMENT;
	*used = 6;
	return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
}

/* Decodes one character from p, which has at least one byte; *used is its length, 1 for an invalid byte. */
static uint32_t decode(const unsigned char *p, size_t length, size_t *used)
{
	uint32_t c;

	*used = 1;
	if (p[0] != 0 && p[0] < 0x80)
		return p[0];
	if ((p[0] & 0xe0) == 0xc0) {
		c = sequence(p[0] & 0x1f, p, length, 2);
		if (c == UINT32_MAX || (c != 0 && c < 0x80))
			return REPLACEMENT;
		*used = 2;
		return c == 0 ? ZERO_SYMBOL : c;
	}
	if ((p[0] & 0xf0) == 0xe0)
		return decode_three(p, length, used);
	if ((p[0] & 0xf8) == 0xf0) {
		c = sequence(p[0] & 0x07, p, length, 4);
		if (c == UINT32_MAX || c < 0x10000 || c > 0x10ffff)
			return REPLACEMENT;
		*used = 4;
		return c;
	}
	return REPLACEMENT;
}

static void text_convert(struct text *t, const char *from, size_t length, bool slashes, bool printable)
{
	const unsigned char *p = (const unsigned char *)from;
	size_t used;

	for (; length && !t->full; p += used, length -= used) {
		uint32_t c = decode(p, length, &used);

		if (slashes && c == '/')
			c = '.';
		if (printable && utf8_steers(c))
			c = '?';
		text_add(t, c);
	}
}

size_t utf8_from_modified(char *to, size_t size, const void *from, size_t length)
{
	struct text t = {.to = to, .size = size};

	if (!size)
		return 0;
	text_convert(&t, from, length, false, false);
	to[t.length] = '\0';
	return t.length;
}

size_t utf8_printable(char *to, size_t size, const void *from, size_t length)
{
	struct text t = {.to = to, .size = size};

	if (!size)
		return 0;
	text_convert(&t, from, length, false, true);
	to[t.length] = '\0';
	return t.length;
}

/* Where the suffix of a hidden class begins (after its separator), or `length` without one. */
static size_t hidden_suffix(const char *name, size_t length)
{
	size_t start = length, i;

	while (start > 0 && !strchr("+./", name[start - 1]))
		start--;
	if (start < 2 || start == length)
		return length;
	i = start;
	if (length - start > 2 && name[start] == '0' && name[start + 1] == 'x') {
		for (i += 2; i < length && isxdigit((unsigned char)name[i]); i++)
			;
	} else if (name[start - 1] == '/') {
		for (; i < length && isdigit((unsigned char)name[i]); i++)
			;
	}
	return i == length ? start : length;
}

static const char *primitive_name(char c)
{
	static const char letters[] = "ZBCSIJFDV";
	static const char *const names[] = {"boolean", "byte",	"char",	  "short", "int",
					    "long",    "float", "double", "void"};
	const char *at = c ? strchr(letters, c) : NULL;

	return at ? names[at - letters] : NULL;
}

size_t class_name_from_signature(char *to, size_t size, const char *signature, size_t length)
{
	struct text t = {.to = to, .size = size};
	const char *primitive = NULL;
	size_t dimensions = 0, suffix;

	if (!size)
		return 0;
	while (dimensions < length && signature[dimensions] == '[')
		dimensions++;
	signature += dimensions;
	length -= dimensions;
	if (dimensions && length == 1)
		primitive = primitive_name(signature[0]);
	if (length > 2 && signature[0] == 'L' && signature[length - 1] == ';') {
		signature++;
		length -= 2;
	}
	if (primitive) {
		text_convert(&t, primitive, strlen(primitive), false, false);
	} else {
		suffix = hidden_suffix(signature, length);
		if (suffix < length) {
			text_convert(&t, signature, suffix - 1, true, false);
			text_add(&t, '/');
			text_convert(&t, signature + suffix, length - suffix, false, false);
		} else {
			text_convert(&t, signature, length, true, false);
		}
	}
	for (; dimensions && !t.full; dimensions--)
		text_convert(&t, "[]", 2, false, false);
	to[t.length] = '\0';
	return t.length;
}
