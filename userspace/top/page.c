// SPDX-License-Identifier: Apache-2.0
#include "page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <util/quantity.h>

#define TALL 14	       /* rows from which there is room for the figures */
#define WIDE 60	       /* columns from which there are two halves */
#define INDENT_MAX 24U /* levels */
#define CELL_TEXT 64
#define TITLE_TEXT (5 * CELL_TEXT)

/* ---- names ---- */

/* Cuts the packages of [name, end) to letters, from the front, until it is short enough. Returns the rest of it. */
static const char *cut_packages(char to[PAGE_NAME], size_t *used, const char *name, const char *end, unsigned width)
{
	const char *rest = name;
	size_t dots = 0;

	for (const char *p = name; p < end; p++)
		dots += *p == '.';
	for (; dots > 1 && *used + 8 < PAGE_NAME && *used + canvas_width(rest) > width && *rest != '.'; dots--) {
		to[(*used)++] = *rest;
		while (((unsigned char)rest[1] & 0xc0) == 0x80 && *used + 8 < PAGE_NAME)
			to[(*used)++] = *++rest; /* the rest of the character */
		to[(*used)++] = '.';
		rest = strchr(rest, '.') + 1;
	}
	return rest;
}

const char *page_name(char to[PAGE_NAME], const char *name, unsigned width)
{
	const char *end = name + strcspn(name, "(/ <"), *rest;
	size_t used = 0;

	rest = cut_packages(to, &used, name, end, width);
	snprintf(to + used, PAGE_NAME - used, "%s", rest);
	if (canvas_width(to) <= width)
		return to;
	if (rest == name && *end == '(' && end > name) {
		snprintf(to, PAGE_NAME, "%.*s", (int)(end - name), name);
	} else if (rest > name && width > 1) { /* the method matters more than its class */
		while (*rest && (canvas_width(rest) >= width || ((unsigned char)*rest & 0xc0) == 0x80))
			rest++;
		snprintf(to, PAGE_NAME, "~%s", rest);
	}
	return to;
}

/* ---- cells ---- */

static const char *value_text(char to[CELL_TEXT], enum top_unit unit, double value)
{
	char text[QUANTITY_TEXT];

	if (value < 0)
		return "-";
	switch (unit) {
	case IN_PERCENT:
		snprintf(to, CELL_TEXT, "%.1f", value);
		return to;
	case IN_TIME:
		snprintf(to, CELL_TEXT, "%s", duration_text(text, (uint64_t)value));
		return to;
	case IN_BYTES:
		snprintf(to, CELL_TEXT, "%s", size_text(text, (uint64_t)value));
		return to;
	default:
		snprintf(to, CELL_TEXT, "%.0f", value);
		return to;
	}
}

static enum top_style style_of(uint8_t domain)
{
	switch (domain) {
	case DOMAIN_JAVA:
		return TOP_JAVA;
	case DOMAIN_NATIVE:
		return TOP_NATIVE;
	case DOMAIN_KERNEL:
		return TOP_KERNEL;
	case DOMAIN_STUB:
		return TOP_VM;
	default:
		return TOP_PLAIN;
	}
}

static bool has_room(const struct canvas *c, const struct top_column *column)
{
	return column->title && c->columns >= column->from_wide;
}

/* ---- the head ---- */

/* "5 s", "1.5 s", "2:05", "1:02:05", rounded to tenths. */
static const char *time_text(char to[CELL_TEXT], uint64_t ns)
{
	uint64_t tenths = (ns + 50000000) / 100000000, seconds = tenths / 10;

	if (seconds >= 3600)
		snprintf(to, CELL_TEXT, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, seconds / 3600, seconds / 60 % 60,
			 seconds % 60);
	else if (seconds >= 60)
		snprintf(to, CELL_TEXT, "%" PRIu64 ":%02" PRIu64, seconds / 60, seconds % 60);
	else if (tenths % 10 && seconds < 10)
		snprintf(to, CELL_TEXT, "%" PRIu64 ".%" PRIu64 " s", seconds, tenths % 10);
	else
		snprintf(to, CELL_TEXT, "%" PRIu64 " s", seconds);
	return to;
}

/* "last 5 s of 2:05  99 Hz  recording" */
static void title_text(char to[TITLE_TEXT], const struct canvas *c, const struct ui *ui)
{
	const struct top_figures *f = &ui->shot->figures;
	bool all = ui->whole || f->shown_ns >= ui->age_ns;
	const char *which = !all ? "last " : ui->cut ? "kept " : "all ";
	char shown[CELL_TEXT], age[CELL_TEXT], of[CELL_TEXT + 4] = "", hz[CELL_TEXT] = "", lost[CELL_TEXT] = "";

	time_text(shown, f->shown_ns);
	if (!all)
		snprintf(of, sizeof(of), " of %s", time_text(age, ui->age_ns));
	if (f->frequency_hz)
		snprintf(hz, sizeof(hz), "%lu Hz  ", f->frequency_hz);
	if (f->lost)
		snprintf(lost, sizeof(lost), "%" PRIu64 " lost  ", f->lost);
	if (c->columns < WIDE)
		snprintf(to, TITLE_TEXT, "%s%s%s%s", ui->paused ? "paused  " : "", lost, which, shown);
	else
		snprintf(to, TITLE_TEXT, "%s%s%s%s  %s%s", lost, which, shown, of, hz,
			 ui->paused ? "paused" : ui->state);
}

static void draw_title(struct canvas *c, const struct ui *ui)
{
	const char *what = ui->shot ? ui->shot->figures.what : "";
	bool warns = ui->paused || (ui->shot && ui->shot->figures.lost);
	unsigned at = canvas_put(c, 0, 0, c->columns, TOP_TITLE, "braid top") + 2;
	char text[TITLE_TEXT];

	if (ui->shot)
		title_text(text, c, ui);
	else
		snprintf(text, sizeof(text), "%s", ui->state);
	if (at + canvas_width(text) + 2 < c->columns)
		at += canvas_put(c, 0, at, c->columns - at - canvas_width(text) - 2, TOP_PLAIN, what) + 2;
	if (at < c->columns)
		canvas_put_right(c, 0, at, c->columns - at, warns ? TOP_WARN : TOP_FAINT, text);
}

/* The parts of a bar, in this order. */
static const struct part {
	uint8_t domain;
	const char *name;
} parts[] = {{DOMAIN_JAVA, "Java"}, {DOMAIN_NATIVE, "native"}, {DOMAIN_STUB, "stubs"}, {DOMAIN_KERNEL, "kernel"}};

#define PARTS (sizeof(parts) / sizeof(parts[0]))

static void draw_bar(struct canvas *c, unsigned row, unsigned width, const struct top_figures *f)
{
	double whole = f->cpus > f->cpus_busy ? f->cpus : f->cpus_busy, done = 0;
	unsigned room = width > 16 ? width - 6 : 0, at = 5;
	char text[CELL_TEXT];

	canvas_put(c, row, 0, width, TOP_PLAIN, "CPU");
	if (!room || f->cpus_busy < 0 || whole <= 0)
		return;
	canvas_put(c, row, 4, 1, TOP_TITLE, "[");
	canvas_put(c, row, 4 + room, 1, TOP_TITLE, "]");
	for (size_t i = 0; i < PARTS && f->samples; i++) {
		done += (double)f->by_domain[parts[i].domain] / (double)f->samples * f->cpus_busy / whole;
		while (at < 4 + room && at < 5 + (unsigned)(done * (room - 1) + 0.5))
			canvas_put(c, row, at++, 1, style_of(parts[i].domain), "|");
	}
	snprintf(text, sizeof(text), "%.0f%% of %u CPU%s", 100 * f->cpus_busy, f->cpus, plural(f->cpus));
	if (!f->cpus)
		snprintf(text, sizeof(text), "%.0f%%", 100 * f->cpus_busy);
	canvas_put_right(c, row, 5, room - 1, TOP_PLAIN, text);
}

static void draw_parts(struct canvas *c, unsigned row, unsigned width, const struct top_figures *f)
{
	unsigned at = 5;
	char text[CELL_TEXT];

	for (size_t i = 0; i < PARTS; i++) {
		double share = percent(f->by_domain[parts[i].domain], f->samples);

		snprintf(text, sizeof(text), "%s %.0f%%", parts[i].name, share);
		if (share < 0.5 || at + strlen(text) > width)
			continue;
		canvas_put(c, row, at, width - at, TOP_PLAIN, text);
		canvas_style(c, row, at, (unsigned)strlen(parts[i].name), style_of(parts[i].domain));
		at += (unsigned)strlen(text) + 2;
	}
}

static void gc_text(char to[CELL_TEXT], const struct shot *s)
{
	const struct top_figures *f = &s->figures;
	char heap[QUANTITY_TEXT];
	int used;

	if (!s->tables[TOP_GC].recorded) {
		snprintf(to, CELL_TEXT, "GC    not recorded");
		return;
	}
	used = snprintf(to, CELL_TEXT, "GC    %.1f%% paused", percent(f->gc_ns, f->shown_ns));
	if (f->heap_after)
		snprintf(to + used, CELL_TEXT - (size_t)used, ", heap %s", size_text(heap, f->heap_after));
}

static void rates_text(char to[CELL_TEXT], const struct shot *s)
{
	const struct top_figures *f = &s->figures;
	char text[QUANTITY_TEXT];
	double seconds = (double)f->shown_ns / 1e9;
	uint64_t blocked_ns = whole_part((double)f->blocked_ns / seconds);
	int used = 0;

	to[0] = 0;
	if (s->tables[TOP_ALLOC].recorded)
		used = snprintf(to, CELL_TEXT, "Alloc %s/s",
				size_text(text, whole_part((double)f->alloc_bytes / seconds)));
	if (s->tables[TOP_LOCKS].recorded)
		snprintf(to + used, CELL_TEXT - (size_t)used, "%sBlocked %s/s", used ? "  " : "",
			 blocked_ns ? duration_text(text, blocked_ns) : "0 s");
}

static unsigned draw_figures(struct canvas *c, const struct ui *ui)
{
	unsigned half = c->columns >= WIDE ? c->columns / 2 - 1 : c->columns;
	char text[CELL_TEXT];

	if (!ui->shot || c->rows < TALL)
		return 0;
	draw_bar(c, 1, half, &ui->shot->figures);
	draw_parts(c, 2, half, &ui->shot->figures);
	if (half < c->columns) {
		gc_text(text, ui->shot);
		canvas_put(c, 1, half + 2, c->columns - half - 2, TOP_PLAIN, text);
		rates_text(text, ui->shot);
		canvas_put(c, 2, half + 2, c->columns - half - 2, TOP_PLAIN, text);
	}
	return 2;
}

static void draw_tabs(struct canvas *c, unsigned row, const struct ui *ui)
{
	unsigned at = 0;
	char text[UI_TEXT + 32];

	canvas_style(c, row, 0, c->columns, TOP_TAB);
	for (int view = 0; view < TOP_VIEWS; view++) {
		snprintf(text, sizeof(text), " %d %s ", view + 1, top_layouts[view].tab);
		at += canvas_put(c, row, at, c->columns, view == (int)ui->view ? TOP_TAB_ON : TOP_TAB, text);
	}
	if (*ui->filter && at + 2 < c->columns) {
		snprintf(text, sizeof(text), "filter: %s ", ui->filter);
		canvas_put_right(c, row, at + 2, c->columns - at - 2, TOP_TAB, text);
	}
}

/* ---- the table ---- */

static void draw_columns(struct canvas *c, unsigned row, const struct ui *ui)
{
	const struct top_layout *l = &top_layouts[ui_view(ui)];
	unsigned at = 0, sort = ui->tables[ui_view(ui)].sort;
	const char *mark = ui->tables[ui_view(ui)].ascending ? "^" : "v";
	char text[CELL_TEXT];

	canvas_style(c, row, 0, c->columns, TOP_COLUMNS);
	for (unsigned i = 0; i < l->count; i++) {
		const struct top_column *column = &l->columns[i];

		if (!has_room(c, column))
			continue;
		snprintf(text, sizeof(text), "%s%s", column->title, i == sort ? mark : "");
		canvas_put_right(c, row, at, column->width - (i == sort ? 0U : 1U),
				 i == sort ? TOP_COLUMN_SORT : TOP_COLUMNS, text);
		at += column->width;
	}
	at++;
	if (has_room(c, &l->note)) {
		canvas_put(c, row, at, l->note.width, TOP_COLUMNS, l->note.title);
		at += l->note.width;
	}
	snprintf(text, sizeof(text), "%s%s", l->name, sort == l->count ? mark : "");
	if (at < c->columns)
		canvas_put(c, row, at, c->columns - at, sort == l->count ? TOP_COLUMN_SORT : TOP_COLUMNS, text);
}

static void draw_name(struct canvas *c, unsigned line, unsigned at, const struct ui *ui, const struct top_row *r)
{
	unsigned indent = 2 * (r->depth < INDENT_MAX ? r->depth : INDENT_MAX);
	bool found = *ui->search && ui_matches(r->name, ui->search);
	char name[PAGE_NAME];

	at += indent;
	if (r->has_children || r->depth || ui->stacks)
		at += canvas_put(c, line, at, 2, TOP_FAINT, !r->has_children ? "  " : ui_is_open(ui, r) ? "- " : "+ ");
	if (at < c->columns)
		canvas_put(c, line, at, c->columns - at, found ? TOP_FOUND : style_of(r->domain),
			   page_name(name, r->name, c->columns - at));
}

static void draw_row(struct canvas *c, unsigned line, const struct ui *ui, const struct top_row *r)
{
	const struct top_layout *l = &top_layouts[ui_view(ui)];
	char text[CELL_TEXT];
	unsigned at = 0;

	for (unsigned i = 0; i < l->count; i++) {
		const struct top_column *column = &l->columns[i];

		if (!has_room(c, column))
			continue;
		canvas_put_right(c, line, at, column->width - 1U,
				 r->value[i] > 0 && column->unit != IN_ID ? TOP_PLAIN : TOP_FAINT,
				 value_text(text, column->unit, r->value[i]));
		at += column->width;
	}
	at++;
	if (has_room(c, &l->note)) {
		canvas_put(c, line, at, l->note.width - 1U, TOP_FAINT, r->note);
		at += l->note.width;
	}
	draw_name(c, line, at, ui, r);
}

/* Why there are no rows. */
static void draw_nothing(struct canvas *c, unsigned line, const struct ui *ui)
{
	const struct top_layout *l = &top_layouts[ui_view(ui)];
	const struct top_table *t = ui_table(ui);
	char text[160];

	if (!t)
		snprintf(text, sizeof(text), "waiting for the first second of the recording ...");
	else if (!t->recorded && t->asked_for)
		snprintf(text, sizeof(text), "not recorded: no JVM with an agent reports it");
	else if (!t->recorded && l->type)
		snprintf(text, sizeof(text), "not recorded; start with -e %s, or `braid ctl PID enable %s`", l->type,
			 l->type);
	else if (*ui->filter && t->rows.count)
		snprintf(text, sizeof(text), "nothing matches the filter '%s'", ui->filter);
	else
		snprintf(text, sizeof(text), "nothing in this time");
	canvas_put(c, line, 2, c->columns, TOP_FAINT, text);
}

static void draw_rows(struct canvas *c, unsigned from, unsigned count, struct ui *ui)
{
	struct ui_table *t = &ui->tables[ui_view(ui)];
	size_t cursor = ui_cursor(ui);

	ui->page = count;
	if (!ui->lines.count) {
		draw_nothing(c, from + (count > 1), ui);
		return;
	}
	if (cursor < t->first)
		t->first = cursor;
	if (cursor >= t->first + count)
		t->first = cursor - count + 1;
	if (t->first + count > ui->lines.count)
		t->first = ui->lines.count > count ? ui->lines.count - count : 0;
	for (unsigned i = 0; i < count && t->first + i < ui->lines.count; i++)
		draw_row(c, from + i, ui, &ui_table(ui)->rows.at[ui->lines.at[t->first + i]]);
	canvas_style(c, from + (unsigned)(cursor - t->first), 0, c->columns, TOP_CURSOR);
}

/* ---- the foot ---- */

static void draw_keys(struct canvas *c, unsigned row, const struct ui *ui)
{
	static const char *const keys[][2] = {{"F1", "Help"},	{"F2", "Window"}, {"F3", "Search"}, {"F4", "Filter"},
					      {"F5", "Stacks"}, {"F6", "Sort"},	  {"s", "Save"},    {"F10", "Quit"}};
	unsigned at = 0;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && at + 10 <= c->columns; i++) {
		const char *text = i == 4 && ui->stacks ? "Fold" : keys[i][1];

		at += canvas_put(c, row, at, c->columns - at, TOP_KEY, keys[i][0]);
		at += canvas_put(c, row, at, 6, TOP_KEY_TEXT, text);
		for (unsigned pad = canvas_width(text); pad < 7 && at < c->columns; pad++)
			at += canvas_put(c, row, at, 1, TOP_KEY_TEXT, " ");
	}
	canvas_style(c, row, at, c->columns > at ? c->columns - at : 0, TOP_KEY_TEXT);
}

static void draw_foot(struct canvas *c, const struct ui *ui)
{
	unsigned row = c->rows - 1;
	char text[UI_TEXT + 32];

	if (ui->prompt) {
		snprintf(text, sizeof(text), "%s%s_", ui->prompt == UI_FILTER ? "Filter: " : "Search: ", ui->typed);
		canvas_style(c, row, 0, c->columns, TOP_KEY_TEXT);
		canvas_put(c, row, 0, c->columns, TOP_KEY_TEXT, text);
	} else if (*ui->message) {
		canvas_put(c, row, 0, c->columns, TOP_WARN, ui->message);
	} else {
		draw_keys(c, row, ui);
	}
}

static void draw_help(struct canvas *c)
{
	static const char *const lines[] = {
		"1 to 5, Tab         the view",
		"Up, Down, PgUp ...  the cursor",
		"Enter, F5           the stacks behind the row; Esc: back",
		"+ -, Right, Left    unfold, fold",
		"F6 > <              the column to sort by;  I: the other way round",
		"P M T               by CPU or share; allocations; by total or time",
		"F4 \\                filter: only rows whose name has this text; Esc: all",
		"F3 /                search, while you type;  n: the next one",
		"F2 w                the last seconds, or all that is kept",
		"[ ]                 half as long a window, twice as long",
		"Space               pause: the recording goes on",
		"s                   save what is kept as a trace",
		"q F10               quit, and end the recording",
	};

	canvas_put(c, 0, 0, c->columns, TOP_TITLE, "braid top: keys");
	for (unsigned i = 0; i < sizeof(lines) / sizeof(lines[0]) && i + 2 < c->rows; i++)
		canvas_put(c, i + 1 + (c->rows > TALL + 2), 2, c->columns, TOP_PLAIN, lines[i]);
	canvas_put(c, c->rows - 1, 0, c->columns, TOP_FAINT, "any key goes back");
}

/* ---- all of it ---- */

static unsigned draw_head(struct canvas *c, const struct ui *ui)
{
	char text[PAGE_NAME];
	unsigned row = 1;

	draw_title(c, ui);
	row += draw_figures(c, ui);
	draw_tabs(c, row++, ui);
	if (ui->stacks && row < c->rows) {
		unsigned at = canvas_put(c, row, 0, c->columns, TOP_FAINT,
					 ui->view == TOP_METHODS   ? "callers of "
					 : ui->view == TOP_THREADS ? "thread "
								   : "stacks of ");

		canvas_put(c, row++, at, c->columns - at, TOP_TITLE, page_name(text, ui->stacks_of, c->columns - at));
	}
	return row;
}

void page_draw(struct canvas *c, struct ui *ui)
{
	unsigned row;

	if (!c->rows || !c->columns)
		return;
	if (ui->help) {
		draw_help(c);
		return;
	}
	row = draw_head(c, ui);
	if (row + 2 < c->rows) {
		draw_columns(c, row, ui);
		draw_rows(c, row + 1, c->rows - row - 2, ui);
	}
	draw_foot(c, ui);
}

/* 0 or -ENOMEM. */
static int print_rows(FILE *out, const struct canvas *c, unsigned count)
{
	char *line = malloc(canvas_line_max(c));

	for (unsigned i = 0; line && i < count; i++)
		fprintf(out, "%s\n", canvas_line(c, i, line));
	free(line);
	return line ? 0 : -ENOMEM;
}

/* One view: its columns and rows. */
static int print_view(FILE *out, struct ui *ui, unsigned columns, unsigned rows)
{
	unsigned count = ui->lines.count < rows ? (unsigned)ui->lines.count : rows;
	struct canvas c;
	int err = canvas_init(&c, count + 2, columns);

	if (err)
		return err;
	fprintf(out, "\n%s\n", top_layouts[ui->view].title);
	if (count) {
		draw_columns(&c, 0, ui);
		draw_rows(&c, 1, count, ui);
	} else {
		draw_nothing(&c, 0, ui);
	}
	err = print_rows(out, &c, count + 1);
	canvas_free(&c);
	return err;
}

int page_print(FILE *out, struct ui *ui, unsigned columns, unsigned rows)
{
	struct canvas c;
	int err = canvas_init(&c, TALL, columns);

	if (err)
		return err;
	draw_title(&c, ui);
	err = print_rows(out, &c, 1 + draw_figures(&c, ui));
	canvas_free(&c);
	for (int view = 0; view < TOP_VIEWS && !err; view++) {
		ui->view = (enum top_view)view;
		err = ui_show(ui, ui->shot) ?: print_view(out, ui, columns, rows);
	}
	return err;
}
