// SPDX-License-Identifier: Apache-2.0
#include "canvas.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <util/utf8.h>

int canvas_init(struct canvas *c, unsigned rows, unsigned columns)
{
	*c = (struct canvas){.rows = rows, .columns = columns};
	c->cells = calloc((size_t)rows * columns + 1, sizeof(*c->cells));
	for (size_t i = 0; c->cells && i < (size_t)rows * columns; i++)
		c->cells[i].text[0] = ' ';
	return c->cells ? 0 : -ENOMEM;
}

void canvas_free(struct canvas *c)
{
	free(c->cells);
	*c = (struct canvas){0};
}

/* The next character: its bytes, and how wide it is. What cannot be shown is one '?'. */
static size_t next(const char *text, mbstate_t *state, char shown[7], unsigned *width)
{
	wchar_t wide = 0;
	size_t length = mbrtowc(&wide, text, MB_LEN_MAX, state);
	int columns;

	if (length == (size_t)-1 || length == (size_t)-2) {
		memset(state, 0, sizeof(*state));
		length = 1;
		columns = -1;
	} else {
		columns = utf8_steers((uint32_t)wide) ? -1 : wcwidth(wide);
	}
	memset(shown, 0, 7);
	*width = columns > 0 ? (unsigned)columns : 1;
	if (columns <= 0 || length >= 7)
		shown[0] = '?';
	else
		memcpy(shown, text, length);
	return length ? length : 1;
}

static struct cell *cell_at(const struct canvas *c, unsigned row, unsigned column)
{
	return &c->cells[(size_t)row * c->columns + column];
}

unsigned canvas_put(struct canvas *c, unsigned row, unsigned column, unsigned width, enum top_style style,
		    const char *text)
{
	mbstate_t state = {0};
	unsigned used = 0, wide;

	if (row >= c->rows || column >= c->columns)
		return 0;
	if (width > c->columns - column)
		width = c->columns - column;
	while (*text) {
		struct cell one = {.style = (uint8_t)style};

		text += next(text, &state, one.text, &wide);
		if (used + wide > width)
			break;
		*cell_at(c, row, column + used) = one;
		if (wide == 2)
			*cell_at(c, row, column + used + 1) = (struct cell){.style = (uint8_t)style};
		used += wide;
	}
	return used;
}

unsigned canvas_width(const char *text)
{
	mbstate_t state = {0};
	unsigned all = 0, wide;
	char shown[7];

	while (*text) {
		text += next(text, &state, shown, &wide);
		all += wide;
	}
	return all;
}

void canvas_put_right(struct canvas *c, unsigned row, unsigned column, unsigned width, enum top_style style,
		      const char *text)
{
	unsigned wide = canvas_width(text), skip = wide < width ? width - wide : 0;

	canvas_put(c, row, column + skip, width - skip, style, text);
}

void canvas_style(struct canvas *c, unsigned row, unsigned column, unsigned width, enum top_style style)
{
	for (unsigned i = 0; row < c->rows && i < width && column + i < c->columns; i++)
		cell_at(c, row, column + i)->style = (uint8_t)style;
}

const struct cell *canvas_cell(const struct canvas *c, unsigned row, unsigned column)
{
	return cell_at(c, row, column);
}

unsigned canvas_line_max(const struct canvas *c)
{
	return c->columns * 7 + 1;
}

const char *canvas_line(const struct canvas *c, unsigned row, char *to)
{
	size_t used = 0, end = 0;

	for (unsigned i = 0; i < c->columns; i++) {
		const char *text = cell_at(c, row, i)->text;
		size_t length = strlen(text);

		memcpy(to + used, text, length);
		used += length;
		if (length && strcmp(text, " ") != 0)
			end = used;
	}
	to[end] = 0;
	return to;
}
