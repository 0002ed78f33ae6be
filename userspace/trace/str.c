// SPDX-License-Identifier: Apache-2.0
#include "str.h"

#include <ctype.h>

struct trace_str str_part(struct trace_str s, size_t from, size_t to)
{
	if (to > s.len)
		to = s.len;
	return from < to ? (struct trace_str){s.str + from, (uint32_t)(to - from)} : (struct trace_str){s.str, 0};
}

struct trace_str str_line(struct trace_str *text)
{
	const char *end = text->len ? memchr(text->str, '\n', text->len) : NULL;
	struct trace_str line = str_part(*text, 0, end ? (size_t)(end - text->str) : text->len);

	*text = str_part(*text, line.len + 1UL, text->len);
	return line;
}

long str_last(struct trace_str s, char c)
{
	const char *at = s.len ? memrchr(s.str, c, s.len) : NULL;

	return at ? at - s.str : -1;
}

bool str_begins(struct trace_str s, const char *with)
{
	size_t len = strlen(with);

	return !len || (s.len >= len && memcmp(s.str, with, len) == 0);
}

bool str_ends(struct trace_str s, const char *with)
{
	size_t len = strlen(with);

	return !len || (s.len >= len && memcmp(s.str + s.len - len, with, len) == 0);
}

bool str_equals(struct trace_str s, const char *to)
{
	return s.len == strlen(to) && str_begins(s, to);
}

bool str_number(struct trace_str *s, uint64_t *number)
{
	size_t i = 0;

	*number = 0;
	for (; i < s->len && isdigit((unsigned char)s->str[i]); i++)
		if (__builtin_mul_overflow(*number, 10U, number) ||
		    __builtin_add_overflow(*number, (unsigned)(s->str[i] - '0'), number))
			return false;
	*s = str_part(*s, i, s->len);
	return i > 0;
}
