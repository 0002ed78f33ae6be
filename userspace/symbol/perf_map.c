// SPDX-License-Identifier: Apache-2.0
/*
 * Reads perf maps from the end, so that the last line that covers an address counts. Only the requested names are kept:
 * memory and time depend on the queries and on a bounded number of bytes.
 */
#include "perf_map.h"
#include "util/search.h"
#include "util/stint.h"
#include "util/utf8.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK (64U << 10)
#define LINE_MAX_BYTES 4096U /* the rest of a longer line is ignored */

struct line {
	uint64_t start, size;
	const char *name;
	size_t length;
};

struct search {
	struct perf_map_query *queries;
	size_t count;
	size_t *next; /* the first unanswered query at or after this one (path compression) */
	bool ended;   /* by a newline: the rest after the last one is still being written */
};

/* Moves *at past the digits and the space after them. */
static bool hex_number(const char **at, const char *end, uint64_t *out)
{
	const char *from = *at;

	*out = 0;
	for (; *at < end && **at != ' '; (*at)++) {
		char c = **at;
		uint64_t digit = c >= '0' && c <= '9'	? (uint64_t)(c - '0')
				 : c >= 'a' && c <= 'f' ? (uint64_t)(c - 'a') + 10
				 : c >= 'A' && c <= 'F' ? (uint64_t)(c - 'A') + 10
							: 16;

		if (digit == 16 || *out >> 60)
			return false;
		*out = *out << 4 | digit;
	}
	if (*at == from || *at == end)
		return false;
	(*at)++;
	return true;
}

static bool perf_map_parse(const char *text, size_t length, struct line *l)
{
	const char *at = text, *end = text + length;

	if (!hex_number(&at, end, &l->start) || !hex_number(&at, end, &l->size) || at == end || !l->size ||
	    l->size > UINT64_MAX - l->start)
		return false;
	l->name = at;
	l->length = (size_t)(end - at);
	return true;
}

static size_t unanswered(struct search *s, size_t i)
{
	size_t found = i, step;

	while (s->next[found] != found)
		found = s->next[found];
	for (; s->next[i] != i; i = step) {
		step = s->next[i];
		s->next[i] = found;
	}
	return found;
}

/* The first query at or above an address. */
static size_t query_at(const struct search *s, uint64_t address)
{
	return SEARCH(i, 0, s->count, s->queries[i].address < address);
}

static int take_line(struct search *s, const char *text, size_t length)
{
	char name[PERF_MAP_NAME_MAX];
	struct line l;
	size_t i;

	if (!perf_map_parse(text, length, &l))
		return 0;
	i = unanswered(s, query_at(s, l.start));
	if (i == s->count || s->queries[i].address - l.start >= l.size)
		return 0;
	utf8_printable(name, sizeof(name), l.name, l.length);
	for (; i < s->count && s->queries[i].address - l.start < l.size; i = unanswered(s, i)) {
		struct perf_map_query *q = &s->queries[i];

		q->name = strdup(name);
		if (!q->name)
			return -ENOMEM;
		q->start = l.start;
		q->size = l.size;
		s->next[i] = i + 1;
	}
	return 0;
}

/*
 * Handles the lines of a piece of text from the last to the first. Returns the length of the first line, which may have
 * begun in the piece before.
 */
static ssize_t take_lines(struct search *s, const char *text, size_t length)
{
	const char *newline;
	int err = 0;

	while (!err && (newline = memrchr(text, '\n', length))) {
		size_t begin = (size_t)(newline - text) + 1;

		if (stint_over())
			return -ETIME;
		err = s->ended ? take_line(s, text + begin, length - begin) : 0;
		s->ended = true;
		length = begin - 1;
	}
	return err ? err : (ssize_t)length;
}

static int read_back(struct search *s, int fd, uint64_t from, uint64_t to, char *buffer)
{
	ssize_t carried = 0;

	while (to > from && unanswered(s, 0) < s->count) {
		size_t n = to - from < CHUNK ? (size_t)(to - from) : CHUNK;

		if (stint_over()) /* there may be no line */
			return -ETIME;
		to -= n;
		memmove(buffer + n, buffer, (size_t)carried);
		if (pread(fd, buffer, n, (off_t)to) != (ssize_t)n)
			return -EIO; /* the file became shorter */
		carried = take_lines(s, buffer, n + (size_t)carried);
		if (carried < 0)
			return (int)carried;
		if ((size_t)carried > LINE_MAX_BYTES)
			carried = LINE_MAX_BYTES;
	}
	return to || !s->ended ? 0 : take_line(s, buffer, (size_t)carried); /* a line without its start is ignored */
}

int perf_map_find(int fd, struct perf_map_query *queries, size_t count, bool *cut)
{
	struct search s = {.queries = queries, .count = count, .next = calloc(count + 1, sizeof(*s.next))};
	char *buffer = malloc(CHUNK + LINE_MAX_BYTES);
	struct stat st;
	int err = -ENOMEM;

	*cut = false;
	for (size_t i = 0; s.next && i <= count; i++)
		s.next[i] = i;
	if (s.next && buffer)
		err = fstat(fd, &st) ? -errno : 0;
	if (!err) {
		uint64_t size = (uint64_t)st.st_size, from = size > PERF_MAP_BYTES_MAX ? size - PERF_MAP_BYTES_MAX : 0;

		err = read_back(&s, fd, from, size, buffer);
		*cut = from && unanswered(&s, 0) < count;
	}
	free(buffer);
	free(s.next);
	return err;
}
