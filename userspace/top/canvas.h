// SPDX-License-Identifier: Apache-2.0
/*
 * A screen as text: characters with styles, in rows and columns. What is written is clipped, and characters that
 * control a terminal become '?'. Widths follow the locale's character set (LC_CTYPE).
 */
#ifndef BRAID_TOP_CANVAS_H
#define BRAID_TOP_CANVAS_H

#include <stdint.h>

enum top_style {
	TOP_PLAIN,
	TOP_TITLE,
	TOP_FAINT,
	TOP_TAB,
	TOP_TAB_ON,
	TOP_COLUMNS,	 /* the heads of columns */
	TOP_COLUMN_SORT, /* that of the one that is sorted by */
	TOP_CURSOR,
	TOP_FOUND,
	TOP_KEY,
	TOP_KEY_TEXT,
	TOP_WARN,
	TOP_JAVA,
	TOP_NATIVE,
	TOP_KERNEL,
	TOP_VM,
	TOP_STYLES,
};

struct cell {
	char text[7];  /* UTF-8; empty: the character before is two columns wide */
	uint8_t style; /* enum top_style */
};

struct canvas {
	unsigned rows, columns;
	struct cell *cells;
};

/* Blank. 0 or -ENOMEM. */
int canvas_init(struct canvas *c, unsigned rows, unsigned columns);
void canvas_free(struct canvas *c);

/* Writes text into at most `width` columns; returns how many it took. */
unsigned canvas_put(struct canvas *c, unsigned row, unsigned column, unsigned width, enum top_style style,
		    const char *text);
/* The same at the right end of these columns. */
void canvas_put_right(struct canvas *c, unsigned row, unsigned column, unsigned width, enum top_style style,
		      const char *text);
unsigned canvas_width(const char *text);
/* Gives a part of a row a style, its text unchanged. */
void canvas_style(struct canvas *c, unsigned row, unsigned column, unsigned width, enum top_style style);

const struct cell *canvas_cell(const struct canvas *c, unsigned row, unsigned column);

/* A row as a line of text without blanks at its end. Returns `to`, of canvas_line_max(c) bytes. */
const char *canvas_line(const struct canvas *c, unsigned row, char *to);
unsigned canvas_line_max(const struct canvas *c);

#endif
