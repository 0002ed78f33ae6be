// SPDX-License-Identifier: Apache-2.0
#include "ui.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <util/compare.h>
#include <util/utf8.h>

#define WINDOW_MIN_NS 1000000000ULL
#define WINDOW_MAX_NS 3600000000000ULL

const struct top_layout top_layouts[TOP_TABLES] = {
	[TOP_METHODS] = {.title = "Methods",
			 .tab = "Methods",
			 .columns = {{"SELF%", IN_PERCENT, 7, 0},
				     {"TOTAL%", IN_PERCENT, 8, 0},
				     {"SAMPLES", IN_NUMBER, 9, 60}},
			 .count = 3,
			 .note = {"KIND", IN_ID, 12, 60},
			 .name = "METHOD",
			 .type = "cpu"},
	[TOP_THREADS] = {.title = "Threads",
			 .tab = "Threads",
			 .columns = {{"CPU%", IN_PERCENT, 7, 0},
				     {"RUNQ%", IN_PERCENT, 7, 50},
				     {"LOCK%", IN_PERCENT, 7, 0},
				     {"WAIT%", IN_PERCENT, 7, 60},
				     {"I/O%", IN_PERCENT, 7, 60},
				     {"IDLE%", IN_PERCENT, 7, 100},
				     {"TID", IN_ID, 9, 90}},
			 .count = 7,
			 .note = {"MOSTLY", IN_ID, 10, 60},
			 .name = "THREAD"},
	[TOP_LOCKS] = {.title = "Locks",
		       .tab = "Locks",
		       .columns = {{"SHARE%", IN_PERCENT, 8, 0},
				   {"BLOCKED", IN_TIME, 10, 0},
				   {"TIMES", IN_NUMBER, 8, 60},
				   {"LONGEST", IN_TIME, 10, 90}},
		       .count = 4,
		       .note = {"OWNER", IN_ID, 18, 76},
		       .name = "LOCK, AND WHERE THREADS ARE BLOCKED",
		       .type = "lock"},
	[TOP_ALLOC] = {.title = "Allocations",
		       .tab = "Alloc",
		       .columns = {{"SHARE%", IN_PERCENT, 8, 0},
				   {"BYTES", IN_BYTES, 12, 0},
				   {"SAMPLES", IN_NUMBER, 9, 60}},
		       .count = 3,
		       .name = "CLASS, AND WHERE IT IS ALLOCATED",
		       .type = "alloc"},
	[TOP_GC] = {.title = "Collections",
		    .tab = "GC",
		    .columns = {{"SHARE%", IN_PERCENT, 8, 0},
				{"TIME", IN_TIME, 10, 0},
				{"TIMES", IN_NUMBER, 8, 60},
				{"LONGEST", IN_TIME, 10, 70}},
		    .count = 4,
		    .note = {"WHY", IN_ID, 28, 90},
		    .name = "COLLECTOR, AND WHAT IT DID",
		    .type = "gc"},
	[TOP_STACKS] =
		{.title = "Stacks", .tab = "", .columns = {{"SHARE%", IN_PERCENT, 8, 0}}, .count = 1, .name = "STACK"},
};

/* ---- the table at hand ---- */

enum top_view ui_view(const struct ui *ui)
{
	return ui->stacks ? TOP_STACKS : ui->view;
}

const struct top_table *ui_table(const struct ui *ui)
{
	if (!ui->shot)
		return NULL;
	return ui->stacks ? &ui->stack_table : &ui->shot->tables[ui->view];
}

static struct ui_table *at_hand(struct ui *ui)
{
	return &ui->tables[ui_view(ui)];
}

bool ui_is_open(const struct ui *ui, const struct top_row *row)
{
	return row->open != (u64map_get(&ui->tables[ui_view(ui)].flipped, row->key) == 2);
}

bool ui_matches(const char *name, const char *part)
{
	return !*part || strcasestr(name, part);
}

/* ---- lines ---- */

struct order {
	const struct top_table *table;
	unsigned sort, columns;
	bool ascending;
};

/* The larger one first. */
static int compare_values(const struct top_row *p, const struct top_row *q, unsigned column)
{
	return (p->value[column] < q->value[column]) - (p->value[column] > q->value[column]);
}

static int compare(const void *x, const void *y, void *ctx)
{
	const struct order *o = ctx;
	const struct top_row *p = &o->table->rows.at[*(const uint32_t *)x],
			     *q = &o->table->rows.at[*(const uint32_t *)y];
	int names = strcmp(p->name, q->name), c = names;

	if (o->sort < o->columns)
		c = compare_values(p, q, o->sort);
	if (o->ascending)
		c = -c;
	for (unsigned i = 0; i < o->columns && !c; i++)
		c = compare_values(p, q, i);
	c = c ? c : names;
	return c ? c : compare_u64(p->key, q->key);
}

/* Whether each row is shown: it matches, or one above or below it does. NULL: no memory. */
static bool *filtered(const struct ui *ui, const struct top_table *t)
{
	bool *shown = calloc(t->rows.count + 1, sizeof(*shown));

	for (size_t i = 0; shown && i < t->rows.count; i++) {
		const struct top_row *r = &t->rows.at[i];

		shown[i] = ui_matches(r->name, ui->filter) || (r->parent && shown[r->parent - 1]);
	}
	for (size_t i = t->rows.count; shown && i-- > 0;)
		if (shown[i] && t->rows.at[i].parent)
			shown[t->rows.at[i].parent - 1] = true;
	return shown;
}

/* Children of each row (place 0: rows without a parent), as lists of places, in order. */
struct family {
	uint32_t *order, *child, *next;
};

static int family_make(struct family *f, const struct top_table *t, struct order *o)
{
	size_t count = t->rows.count;

	f->order = calloc(count + 1, sizeof(*f->order));
	f->child = calloc(count + 1, sizeof(*f->child));
	f->next = calloc(count + 1, sizeof(*f->next));
	if (!f->order || !f->child || !f->next)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		f->order[i] = (uint32_t)i;
	qsort_r(f->order, count, sizeof(*f->order), compare, o);
	for (size_t i = count; i-- > 0;) {
		uint32_t place = f->order[i] + 1, parent = t->rows.at[f->order[i]].parent;

		f->next[place] = f->child[parent];
		f->child[parent] = place;
	}
	return 0;
}

/* Goes through what is shown, depth first. */
static int list(struct ui *ui, const struct top_table *t, const struct family *f, const bool *shown)
{
	uint32_t place = f->child[0];
	int err = 0;

	while (place && !err) {
		const struct top_row *r = &t->rows.at[place - 1];
		uint32_t below = shown[place - 1] && ui_is_open(ui, r) ? f->child[place] : 0;

		if (shown[place - 1])
			err = VEC_PUSH(&ui->lines, place - 1);
		if (below) {
			place = below;
			continue;
		}
		while (place && !f->next[place])
			place = t->rows.at[place - 1].parent;
		place = place ? f->next[place] : 0;
	}
	return err;
}

static int make_lines(struct ui *ui)
{
	const struct top_table *t = ui_table(ui);
	struct order o = {.table = t,
			  .sort = at_hand(ui)->sort,
			  .columns = top_layouts[ui_view(ui)].count,
			  .ascending = at_hand(ui)->ascending};
	struct family f = {0};
	bool *shown;
	int err;

	ui->lines.count = 0;
	if (!t || !t->rows.count)
		return 0;
	shown = filtered(ui, t);
	err = family_make(&f, t, &o);
	err = shown ? err ?: list(ui, t, &f, shown) : -ENOMEM;
	free(shown);
	free(f.order);
	free(f.child);
	free(f.next);
	return err;
}

/* ---- the cursor ---- */

static const struct top_row *row_of_line(const struct ui *ui, size_t line)
{
	return line < ui->lines.count ? &ui_table(ui)->rows.at[ui->lines.at[line]] : NULL;
}

size_t ui_cursor(const struct ui *ui)
{
	const struct ui_table *t = &ui->tables[ui_view(ui)];

	for (size_t i = 0; t->cursor && i < ui->lines.count; i++)
		if (row_of_line(ui, i)->key == t->cursor)
			return i;
	if (!t->cursor || !ui->lines.count)
		return 0;
	return t->at < ui->lines.count ? t->at : ui->lines.count - 1; /* the row has gone */
}

static void move_to(struct ui *ui, size_t line)
{
	struct ui_table *t = at_hand(ui);
	const struct top_row *r;

	if (line >= ui->lines.count)
		line = ui->lines.count ? ui->lines.count - 1 : 0;
	r = row_of_line(ui, line);
	t->cursor = r && line ? r->key : 0; /* at the top it stays there */
	t->at = line;
}

static void move_by(struct ui *ui, long by)
{
	long to = (long)ui_cursor(ui) + by;

	move_to(ui, to < 0 ? 0 : (size_t)to);
}

static void search_on(struct ui *ui, bool from_here)
{
	size_t at = ui_cursor(ui);

	for (size_t i = from_here ? 0 : 1; *ui->search && i <= ui->lines.count; i++) {
		size_t line = (at + i) % ui->lines.count;

		if (ui_matches(row_of_line(ui, line)->name, ui->search)) {
			move_to(ui, line);
			return;
		}
	}
	if (*ui->search)
		ui_say(ui, 0, "nothing here matches '%s'", ui->search);
}

/* ---- life ---- */

void ui_say(struct ui *ui, uint64_t until_ns, const char *format, ...)
{
	char text[UI_MESSAGE];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (length < 0)
		return;
	utf8_printable(ui->message, sizeof(ui->message), text, strlen(text));
	ui->message_until_ns = until_ns;
}

void ui_init(struct ui *ui, uint64_t window_ns)
{
	*ui = (struct ui){.window_ns = window_ns, .page = 20};
	ui->tables[TOP_LOCKS].sort = ui->tables[TOP_ALLOC].sort = ui->tables[TOP_GC].sort = 1;
}

void ui_free(struct ui *ui)
{
	for (int i = 0; i < TOP_TABLES; i++)
		u64map_free(&ui->tables[i].flipped);
	top_table_free(&ui->stack_table);
	free(ui->lines.at);
}

/* The stacks of the row that they were opened for. It may have none any more. */
static int find_stacks(struct ui *ui)
{
	const struct top_table *t = &ui->shot->tables[ui->view];
	uint32_t row = top_table_find(t, ui->stacks_key);

	top_table_free(&ui->stack_table);
	return row == ROW_NONE ? 0 : shot_stacks(ui->shot, ui->view, &t->rows.at[row], &ui->stack_table);
}

int ui_show(struct ui *ui, const struct shot *s)
{
	int err = 0;

	ui->shot = s;
	if (ui->stacks)
		err = find_stacks(ui);
	return err ?: make_lines(ui);
}

/* ---- keys ---- */

static int fold(struct ui *ui, bool open)
{
	const struct top_row *r = ui->shot ? row_of_line(ui, ui_cursor(ui)) : NULL;
	uint32_t *flipped;

	if (!r)
		return 0;
	if (!open && (!ui_is_open(ui, r) || !r->has_children)) {
		if (r->parent)
			at_hand(ui)->cursor = ui_table(ui)->rows.at[r->parent - 1].key;
		return 0;
	}
	if (open == ui_is_open(ui, r))
		return 0;
	flipped = u64map_put(&at_hand(ui)->flipped, r->key);
	if (!flipped)
		return -ENOMEM;
	*flipped = r->open == open ? 1 : 2;
	return 0;
}

static int open_stacks(struct ui *ui)
{
	const struct top_row *r = ui->shot ? row_of_line(ui, ui_cursor(ui)) : NULL;

	if (!r)
		return 0;
	if (ui->stacks)
		return fold(ui, !ui_is_open(ui, r));
	if (ui->view == TOP_GC) {
		ui_say(ui, 0, "collections have no stacks: 1 and 2 show what the collector's threads do");
		return 0;
	}
	ui->stacks_key = r->key;
	snprintf(ui->stacks_of, sizeof(ui->stacks_of), "%s", r->name);
	u64map_free(&ui->tables[TOP_STACKS].flipped);
	ui->tables[TOP_STACKS] = (struct ui_table){0};
	ui->stacks = true;
	return find_stacks(ui);
}

static void change_view(struct ui *ui, enum top_view view)
{
	ui->stacks = false;
	ui->view = view;
}

static void change_window(struct ui *ui, bool longer)
{
	uint64_t to = longer ? ui->window_ns * 2 : ui->window_ns / 2;

	ui->whole = false;
	if (to >= WINDOW_MIN_NS && to <= WINDOW_MAX_NS)
		ui->window_ns = to;
}

static void sort_by(struct ui *ui, int by)
{
	unsigned columns = top_layouts[ui_view(ui)].count + 1;
	struct ui_table *t = at_hand(ui);

	t->sort = (t->sort + columns + (unsigned)by) % columns;
	t->ascending = false;
}

/* The letters of top(1): CPU, memory, time. */
static void sort_letter(struct ui *ui, uint32_t key)
{
	struct ui_table *t;

	if (key == 'M')
		change_view(ui, TOP_ALLOC);
	t = at_hand(ui);
	t->ascending = false;
	if (key == 'P')
		t->sort = 0;
	else if (top_layouts[ui_view(ui)].count > 1)
		t->sort = 1;
}

static void begin_prompt(struct ui *ui, enum ui_prompt prompt)
{
	ui->prompt = prompt;
	snprintf(ui->typed, sizeof(ui->typed), "%s", prompt == UI_FILTER ? ui->filter : "");
}

static void type(struct ui *ui, uint32_t key)
{
	size_t length = strlen(ui->typed);

	if (key == UI_KEY_BACKSPACE) {
		while (length && (ui->typed[--length] & 0xc0) == 0x80)
			;
		ui->typed[length] = 0;
	} else if (key >= ' ' && key < 0x100 && length + 1 < sizeof(ui->typed)) {
		ui->typed[length] = (char)key; /* a byte of UTF-8 */
		ui->typed[length + 1] = 0;
	}
	if (ui->prompt == UI_FILTER)
		memcpy(ui->filter, ui->typed, sizeof(ui->filter));
	else
		memcpy(ui->search, ui->typed, sizeof(ui->search));
}

/* A filter and a search work while they are typed. */
static void prompt_key(struct ui *ui, uint32_t key)
{
	enum ui_prompt prompt = ui->prompt;

	if (key == UI_KEY_ENTER || key == UI_KEY_ESCAPE) {
		if (key == UI_KEY_ESCAPE && prompt == UI_FILTER)
			ui->filter[0] = 0;
		ui->prompt = UI_NO_PROMPT;
		return;
	}
	type(ui, key);
	if (prompt == UI_SEARCH && ui->lines.count)
		search_on(ui, true);
}

static bool move_key(struct ui *ui, uint32_t key)
{
	switch (key) {
	case UI_KEY_UP:
	case 'k':
		move_by(ui, -1);
		return true;
	case UI_KEY_DOWN:
	case 'j':
		move_by(ui, 1);
		return true;
	case UI_KEY_PAGE_UP:
		move_by(ui, -(long)ui->page);
		return true;
	case UI_KEY_PAGE_DOWN:
		move_by(ui, (long)ui->page);
		return true;
	case UI_KEY_HOME:
		move_to(ui, 0);
		return true;
	case UI_KEY_END:
		move_to(ui, ui->lines.count);
		return true;
	case 'n':
		if (ui->lines.count)
			search_on(ui, false);
		return true;
	default:
		return false;
	}
}

/* What changes which rows there are, and how. */
static int table_key(struct ui *ui, uint32_t key)
{
	switch (key) {
	case '\t':
		change_view(ui, (ui->view + 1) % TOP_VIEWS);
		return 0;
	case UI_KEY_BACKTAB:
		change_view(ui, (ui->view + TOP_VIEWS - 1) % TOP_VIEWS);
		return 0;
	case '1' ... '0' + TOP_VIEWS:
		change_view(ui, (enum top_view)(key - '1'));
		return 0;
	case UI_KEY_ENTER:
	case UI_KEY_F1 + 4:
		return open_stacks(ui);
	case UI_KEY_ESCAPE:
	case UI_KEY_BACKSPACE:
		ui->stacks = false;
		return 0;
	case '+':
	case UI_KEY_RIGHT:
		return fold(ui, true);
	case '-':
	case UI_KEY_LEFT:
		return fold(ui, false);
	case UI_KEY_F1 + 5:
	case '>':
		sort_by(ui, 1);
		return 0;
	case '<':
		sort_by(ui, -1);
		return 0;
	case 'I':
		at_hand(ui)->ascending = !at_hand(ui)->ascending;
		return 0;
	case 'P':
	case 'M':
	case 'T':
		sort_letter(ui, key);
		return 0;
	default:
		return 0;
	}
}

static bool screen_key(struct ui *ui, uint32_t key, enum ui_request *request)
{
	switch (key) {
	case 'q':
	case UI_KEY_F10:
		*request = UI_QUIT;
		return true;
	case 's':
		*request = UI_SAVE;
		return true;
	case 'h':
	case '?':
	case UI_KEY_F1:
		ui->help = true;
		return true;
	case UI_KEY_F1 + 1:
	case 'w':
		ui->whole = !ui->whole;
		return true;
	case '[':
	case ']':
		change_window(ui, key == ']');
		return true;
	case '/':
	case UI_KEY_F1 + 2:
		begin_prompt(ui, UI_SEARCH);
		return true;
	case '\\':
	case UI_KEY_F1 + 3:
		begin_prompt(ui, UI_FILTER);
		return true;
	case ' ':
		ui->paused = !ui->paused;
		return true;
	default:
		return false;
	}
}

int ui_key(struct ui *ui, uint32_t key, enum ui_request *request)
{
	int err = 0;

	*request = UI_NOTHING;
	ui->message[0] = 0;
	if (ui->help) {
		ui->help = false;
		if (key == 'q')
			*request = UI_QUIT;
		return 0;
	}
	if (ui->prompt)
		prompt_key(ui, key);
	else if (screen_key(ui, key, request) || move_key(ui, key))
		return 0; /* the lines are the same */
	else
		err = table_key(ui, key);
	return err ?: make_lines(ui);
}
