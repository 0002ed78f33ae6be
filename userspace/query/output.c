// SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <analyze/hash.h>
#include <util/json.h>
#include <util/vec.h>

#define ROWS_AHEAD 1000 /* whose widths a table's columns have */

struct cell {
	char *text; /* NULL: the value is NULL */
	bool number;
};

struct output {
	FILE *out;
	sqlite3_stmt *s;
	enum query_format format;
	int columns;
	struct json json;
	bool streams; /* a table whose widths are known */
	size_t *widths;
	VEC(struct cell) cells; /* of the rows ahead */
};

static const char *column_name(const struct output *o, int column)
{
	const char *name = sqlite3_column_name(o->s, column);

	return name ? name : "";
}

/* ---- tables ---- */

/* Characters, not bytes; names of the trace have no others than those of one cell each, as far as is known here. */
static size_t width_of(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static bool is_number(sqlite3_stmt *s, int column)
{
	int type = sqlite3_column_type(s, column);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

/* A printable copy of a value. 0 or -ENOMEM. */
static int take_cell(struct output *o, int column, struct cell *cell)
{
	const char *text = (const char *)sqlite3_column_text(o->s, column);
	size_t length = (size_t)sqlite3_column_bytes(o->s, column);

	*cell = (struct cell){.number = is_number(o->s, column)};
	if (!text)
		return sqlite3_column_type(o->s, column) == SQLITE_NULL ? 0 : -ENOMEM;
	cell->text = malloc(length + 1);
	if (!cell->text)
		return -ENOMEM;
	cell->text[text_clean(cell->text, text, length)] = '\0';
	return 0;
}

static void print_padded(const struct output *o, int column, const char *text, bool number)
{
	size_t width = width_of(text), all = o->widths[column];
	int pad = width < all ? (int)(all - width) : 0;
	bool last = column == o->columns - 1;

	if (column)
		fputs("  ", o->out);
	if (number)
		fprintf(o->out, "%*s%s", pad, "", text);
	else
		fprintf(o->out, "%s%*s", text, last ? 0 : pad, "");
	if (last)
		putc('\n', o->out);
}

static void print_cell(const struct output *o, int column, const struct cell *cell)
{
	print_padded(o, column, cell->text ? cell->text : "", cell->number);
}

/* A column is as wide as its name and the values of the rows ahead, and its name stands where the first one does. */
static void begin_table(struct output *o)
{
	for (size_t i = 0; i < o->cells.count; i++) {
		size_t width = o->cells.at[i].text ? width_of(o->cells.at[i].text) : 0;
		size_t *widest = &o->widths[i % (size_t)o->columns];

		*widest = width > *widest ? width : *widest;
	}
	for (int c = 0; c < o->columns; c++)
		print_padded(o, c, column_name(o, c), o->cells.count && o->cells.at[c].number);
	for (size_t i = 0; i < o->cells.count; i++) {
		print_cell(o, (int)(i % (size_t)o->columns), &o->cells.at[i]);
		free(o->cells.at[i].text);
	}
	o->cells.count = 0;
	o->streams = true;
}

static int text_row(struct output *o)
{
	struct cell cell;
	int err = 0;

	for (int c = 0; c < o->columns && !err; c++) {
		err = take_cell(o, c, &cell);
		if (!err && o->streams) {
			print_cell(o, c, &cell);
			free(cell.text);
		} else if (!err && (err = VEC_PUSH(&o->cells, cell))) {
			free(cell.text);
		}
	}
	if (!err && !o->streams && o->cells.count >= ROWS_AHEAD * (size_t)o->columns)
		begin_table(o);
	return err;
}

/* ---- the others ---- */

/* RFC 4180. An empty text is "", and NULL is nothing. */
static void csv_field(FILE *out, const char *text)
{
	if (text && *text && !strpbrk(text, "\",\r\n")) {
		fputs(text, out);
		return;
	}
	if (!text)
		return;
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}

static int csv_row(struct output *o)
{
	for (int c = 0; c < o->columns; c++) {
		if (c)
			putc(',', o->out);
		csv_field(o->out, (const char *)sqlite3_column_text(o->s, c));
	}
	fputs("\r\n", o->out);
	return 0;
}

static int tsv_row(struct output *o)
{
	for (int c = 0; c < o->columns; c++) {
		struct cell cell;

		if (take_cell(o, c, &cell))
			return -ENOMEM;
		fprintf(o->out, "%s%s", c ? "\t" : "", cell.text ? cell.text : "");
		free(cell.text);
	}
	putc('\n', o->out);
	return 0;
}

static void json_value(struct output *o, int column)
{
	const char *name = column_name(o, column);

	switch (sqlite3_column_type(o->s, column)) {
	case SQLITE_NULL:
		json_null(&o->json, name);
		return;
	case SQLITE_INTEGER:
		json_signed(&o->json, name, sqlite3_column_int64(o->s, column));
		return;
	case SQLITE_FLOAT:
		json_real(&o->json, name, sqlite3_column_double(o->s, column));
		return;
	default:
		json_string(&o->json, name, (const char *)sqlite3_column_text(o->s, column) ?: "");
	}
}

static int json_row(struct output *o)
{
	json_open(&o->json, NULL, '{');
	for (int c = 0; c < o->columns; c++)
		json_value(o, c);
	json_close(&o->json, '}');
	return 0;
}

static void print_heads(struct output *o)
{
	for (int c = 0; c < o->columns; c++) {
		if (o->format == QUERY_CSV) {
			fputs(c ? "," : "", o->out);
			csv_field(o->out, column_name(o, c));
		} else {
			fprintf(o->out, "%s%s", c ? "\t" : "", column_name(o, c));
		}
	}
	fputs(o->format == QUERY_CSV ? "\r\n" : "\n", o->out);
}

/* ---- all ---- */

static int (*const row_writers[])(struct output *o) = {
	[QUERY_TABLE] = text_row, [QUERY_CSV] = csv_row, [QUERY_TSV] = tsv_row, [QUERY_JSON] = json_row};

int output_begin(struct output **made, FILE *out, sqlite3_stmt *s, enum query_format format)
{
	struct output *o = calloc(1, sizeof(*o));

	*made = o;
	if (!o)
		return -ENOMEM;
	*o = (struct output){
		.out = out, .s = s, .format = format, .columns = sqlite3_column_count(s), .json = {.out = out}};
	o->widths = calloc((size_t)o->columns, sizeof(*o->widths));
	if (!o->widths) {
		free(o);
		*made = NULL;
		return -ENOMEM;
	}
	for (int c = 0; c < o->columns; c++)
		o->widths[c] = width_of(column_name(o, c));
	if (format == QUERY_JSON)
		json_open(&o->json, NULL, '[');
	else if (format != QUERY_TABLE)
		print_heads(o);
	return 0;
}

int output_row(struct output *o)
{
	return row_writers[o->format](o);
}

int output_end(struct output *o, int err)
{
	if (!o)
		return err;
	if (o->format == QUERY_TABLE && !o->streams && !err)
		begin_table(o);
	if (o->format == QUERY_JSON && !err) {
		json_close(&o->json, ']');
		putc('\n', o->out);
	}
	for (size_t i = 0; i < o->cells.count; i++)
		free(o->cells.at[i].text);
	free(o->cells.at);
	free(o->widths);
	free(o);
	return err;
}
