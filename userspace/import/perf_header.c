// SPDX-License-Identifier: Apache-2.0
#include "perf_header.h"

#include <ctype.h>
#include <string.h>

#include <trace/str.h>

#define NS_DIGITS 9

static struct trace_str skip_blanks(struct trace_str s)
{
	size_t i = 0;

	while (i < s.len && (s.str[i] == ' ' || s.str[i] == '\t'))
		i++;
	return str_part(s, i, s.len);
}

static size_t word_length(struct trace_str s)
{
	size_t i = 0;

	while (i < s.len && s.str[i] != ' ' && s.str[i] != '\t')
		i++;
	return i;
}

/* ---- the header ---- */

/* perf prints -1 for an unknown id. */
static bool take_id(struct trace_str *s, uint32_t *id)
{
	uint64_t number = 0;

	if (str_begins(*s, "-1"))
		*s = str_part(*s, 2, s->len);
	else if (!str_number(s, &number) || number > INT32_MAX)
		return false;
	*id = (uint32_t)number;
	return true;
}

/* "1234" or "1234/1235", and a blank */
static bool take_ids(struct perf_header *h, struct trace_str *s)
{
	struct trace_str at = *s;

	h->pid = 0;
	if (!take_id(&at, &h->tid))
		return false;
	if (str_begins(at, "/")) {
		h->pid = h->tid;
		at = str_part(at, 1, at.len);
		if (!take_id(&at, &h->tid))
			return false;
	}
	if (!str_begins(at, " "))
		return false;
	*s = skip_blanks(at);
	return true;
}

static void take_cpu(struct perf_header *h, struct trace_str *s)
{
	struct trace_str at = str_part(*s, 1, s->len);
	uint64_t cpu;

	if (!str_begins(*s, "[") || !str_number(&at, &cpu) || !str_begins(at, "]") || cpu >= TRACE_NO_CPU)
		return;
	h->has_cpu = true;
	h->cpu = (uint32_t)cpu;
	*s = skip_blanks(str_part(at, 1, at.len));
}

/* "12345.678901:", in seconds, with any number of digits behind the point. */
static bool take_time(struct perf_header *h, struct trace_str *s)
{
	struct trace_str at = *s, digits;
	uint64_t seconds, fraction;
	bool before = str_begins(at, "-");

	if (before)
		at = str_part(at, 1, at.len);
	if (!str_number(&at, &seconds) || !str_begins(at, "."))
		return false;
	digits = at = str_part(at, 1, at.len);
	if (!str_number(&at, &fraction) || !str_begins(at, ":") || digits.len - at.len > NS_DIGITS ||
	    seconds > UINT32_MAX)
		return false;
	for (size_t i = digits.len - at.len; i < NS_DIGITS; i++)
		fraction *= 10;
	h->has_time = true;
	h->time_ns = before ? 0 : seconds * 1000000000U + fraction;
	*s = skip_blanks(str_part(at, 1, at.len));
	return true;
}

/* "10101010 cycles:u:", without the number if it was not asked for. */
static bool take_event(struct perf_header *h, struct trace_str *s)
{
	struct trace_str at = *s, number = *s;
	size_t length;

	if (str_number(&number, &h->period) && str_begins(number, " ")) {
		h->has_period = true;
		at = skip_blanks(number);
	}
	length = word_length(at);
	if (length < 2 || at.str[length - 1] != ':' || memchr(at.str, ';', length)) {
		*s = at;
		return false;
	}
	h->event = str_part(at, 0, length - 1);
	*s = skip_blanks(str_part(at, length, at.len));
	return true;
}

/* What follows the name of the program. */
static bool take_fields(struct perf_header *h, struct trace_str s)
{
	bool timed, named;

	if (!take_ids(h, &s))
		return false;
	take_cpu(h, &s);
	timed = take_time(h, &s);
	named = take_event(h, &s);
	h->rest = s;
	return timed || named || (h->has_cpu && !s.len);
}

/* The name may have blanks and numbers in it: the first place counts behind which the rest is right. */
bool perf_header_take(struct perf_header *h, struct trace_str line)
{
	struct trace_str s = skip_blanks(line);

	for (size_t i = 1; i < s.len; i++) {
		struct trace_str fields = str_part(s, i, s.len);

		if (s.str[i - 1] != ' ' || (!isdigit((unsigned char)s.str[i]) && s.str[i] != '-'))
			continue;
		*h = (struct perf_header){.comm = str_part(s, 0, i)};
		while (h->comm.len && h->comm.str[h->comm.len - 1] == ' ')
			h->comm.len--;
		if (h->comm.len && take_fields(h, fields))
			return true;
	}
	return false;
}

/* ---- frames ---- */

static bool take_address(struct trace_str *s, uint64_t *address)
{
	size_t i = 0;

	*address = 0;
	for (; i < s->len && i < 16 && isxdigit((unsigned char)s->str[i]); i++) {
		unsigned c = (unsigned char)tolower((unsigned char)s->str[i]);

		*address = *address << 4 | (c <= '9' ? c - '0' : c - 'a' + 10);
	}
	*s = str_part(*s, i, s->len);
	return i > 0;
}

/* "name+0x1c" without the offset */
static struct trace_str without_offset(struct trace_str name)
{
	long plus = str_last(name, '+');
	struct trace_str offset = str_part(name, (size_t)(plus + 1), name.len);

	if (plus <= 0 || !str_begins(offset, "0x"))
		return name;
	for (size_t i = 2; i < offset.len; i++)
		if (!isxdigit((unsigned char)offset.str[i]))
			return name;
	return str_part(name, 0, (size_t)plus);
}

bool perf_frame_take(struct perf_frame *f, struct trace_str line)
{
	struct trace_str s = skip_blanks(line);
	const char *open = NULL;

	*f = (struct perf_frame){0};
	if (!take_address(&s, &f->address) || (s.len && s.str[0] != ' '))
		return false;
	f->text = s = skip_blanks(s);
	if (str_ends(s, ")"))
		for (size_t i = s.len; i-- > 0 && !open;)
			if (s.str[i] == '(' && (!i || s.str[i - 1] == ' '))
				open = s.str + i;
	if (open) {
		f->module = str_part(s, (size_t)(open - s.str) + 1, s.len - 1);
		s = str_part(s, 0, (size_t)(open - s.str));
	}
	while (s.len && s.str[s.len - 1] == ' ')
		s.len--;
	if (str_ends(s, "_[k]")) /* `braid script --annotate`; the module says it, too */
		s.len -= (uint32_t)strlen("_[k]");
	f->name = without_offset(s);
	return true;
}

/* ---- events ---- */

bool perf_event_is_clock(struct trace_str event)
{
	static const char *const clocks[] = {
		"cycles",  "cpu-cycles",      "cpu-clock",	 "task-clock", "ref-cycles",
		"samples", "cpu_core/cycles", "cpu_atom/cycles", "cpu/cycles", "cpu_core/cpu-cycles"};

	for (size_t i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		size_t length = strlen(clocks[i]);

		if (str_begins(event, clocks[i]) &&
		    (event.len == length || event.str[length] == ':' || event.str[length] == '/'))
			return true;
	}
	return false;
}
