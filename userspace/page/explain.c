// SPDX-License-Identifier: Apache-2.0
/*
 * What `braid explain` says of some stretches, in its words. All of it is made here, because the browser does not have
 * all times of the threads.
 */
#include <errno.h>
#include <stdlib.h>

#include <analyze/spans.h>
#include <report/explain.h>
#include <report/info.h>
#include <util/quantity.h>

#include "lanes.h"
#include "stretches.h"

#define PARTS_MAX 16U			/* rows of a table; the rest is added up */
#define PIECES_MAX (2 * EXPLAIN_PIECES) /* of all paths; behind it, no further stretch is explained */

struct explains {
	struct page *page;
	struct stretches stretches;
	struct page_stacks stacks;
	VEC(struct explain *) list; /* of the first of the stretches */
};

/* A text that is printed, as a member. */
typedef void text_fn(FILE *out, const struct explain *e, uint32_t number);

static int put_text(struct json *j, const char *key, text_fn *print, const struct explain *e, uint32_t number)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int err = out ? 0 : -ENOMEM;

	if (out) {
		print(out, e, number);
		err = fclose(out) ? -ENOMEM : 0;
	}
	if (!err)
		json_string(j, key, text);
	free(text);
	return err;
}

static void print_node(FILE *out, const struct explain *e, uint32_t node)
{
	explain_what(out, e, node, ROW_NONE);
}

static void print_headline(FILE *out, const struct explain *e, uint32_t part)
{
	explain_reason(out, e, &e->parts.at[part]);
}

static void print_attributes(FILE *out, const struct explain *e, uint32_t place)
{
	text_attributes(out, e->wall->an->a, place);
}

/* ---- a stretch ---- */

/* Of which thread: the page's number, and the id of a virtual one. */
static int put_thread(struct page *p, const struct wall *w, uint32_t thread)
{
	const struct wall_thread *t = &w->threads.at[thread];
	uint32_t number;
	int err = page_thread(p, t->thread, &number);

	json_number(&p->j, "thread", number);
	json_number(&p->j, "vthread", t->vthread);
	return err;
}

/* The longest of several: how long, where, on which stack. */
static int put_longest(struct explains *x, const struct explain *e, const struct explain_longest *l)
{
	struct json *j = &x->page->j;
	int err;

	json_open(j, "longest", '{');
	json_number(j, "ns", l->ns);
	json_decimal(j, "at_us", (double)lanes_time(x->page, l->at_ns) / 1000);
	err = put_thread(x->page, e->wall, l->thread);
	json_number(j, "node", page_stacks_place(&x->stacks, l->stack));
	json_close(j, '}');
	return err;
}

static int put_part(struct explains *x, const struct explain *e, const struct explain_part *part)
{
	struct json *j = &x->page->j;
	int err;

	json_open(j, NULL, '{');
	json_number(j, "state", e->nodes.at[part->node].state);
	err = put_text(j, "what", print_node, e, part->node);
	if (part->wait != part->node)
		err = err ?: put_text(j, "for", print_node, e, part->wait);
	json_number(j, "ns", part->ns);
	json_number(j, "count", part->count);
	err = err ?: put_longest(x, e, &part->longest);
	json_close(j, '}');
	return err;
}

static int put_parts(struct explains *x, const struct explain *e)
{
	struct json *j = &x->page->j;
	uint64_t rest_ns = 0;
	int err = 0;

	json_open(j, "parts", '[');
	for (size_t i = 0; i < e->parts.count && !err; i++)
		if (i < PARTS_MAX)
			err = put_part(x, e, &e->parts.at[i]);
		else
			rest_ns += e->parts.at[i].ns;
	json_close(j, ']');
	json_number(j, "others", e->parts.count > PARTS_MAX ? e->parts.count - PARTS_MAX : 0);
	json_number(j, "others_ns", rest_ns);
	return err;
}

/* Those nodes of the tree that the text has, too. A parent has more time than its children, and comes first. */
static int put_nodes(struct explains *x, const struct explain *e)
{
	uint64_t least = explain_ns(e) / EXPLAIN_TREE_SHARE;
	uint32_t *number = calloc(e->nodes.count + 1, sizeof(*number)), count = 0;
	struct json *j = &x->page->j;
	int err = number ? 0 : -ENOMEM;

	json_open(j, "nodes", '[');
	for (uint32_t i = 1; i < e->nodes.count && !err; i++) {
		const struct explain_node *n = &e->nodes.at[i];

		if (n->total_ns < least || !n->total_ns)
			continue;
		number[i] = ++count;
		json_open(j, NULL, '{');
		json_number(j, "parent", number[n->parent]);
		json_number(j, "state", n->state);
		err = put_text(j, "what", print_node, e, i);
		json_string(j, "until", n->ended_by);
		json_number(j, "ns", n->total_ns);
		json_number(j, "count", n->count);
		err = err ?: put_longest(x, e, &n->longest);
		json_close(j, '}');
	}
	json_close(j, ']');
	free(number);
	return err;
}

static int put_span(struct json *j, const struct explain *e)
{
	const struct span_row *span = e->stretch.span;
	char id[SPANS_ID_TEXT];

	json_string(j, "span", spans_id_text(id, span->span_id));
	return put_text(j, "attributes", print_attributes, e, span->attributes);
}

static int put_explain(struct explains *x, const struct explain *e, enum stretch_why why)
{
	static const char *const keys[] = {
		[STRETCH_SPAN] = "span", [STRETCH_BUSY] = "busy", [STRETCH_WAITED] = "waited"};
	struct json *j = &x->page->j;
	int err;

	json_open(j, NULL, '{');
	json_string(j, "why", keys[why]);
	err = put_thread(x->page, e->wall, e->stretch.thread);
	json_string(j, "name", wall_thread_name(e->wall, e->stretch.thread));
	json_number(j, "number", wall_thread_number(e->wall, e->stretch.thread));
	if (e->stretch.span)
		err = err ?: put_span(j, e);
	json_decimal(j, "from_us", (double)lanes_time(x->page, e->stretch.from_ns) / 1000);
	json_decimal(j, "to_us", (double)lanes_time(x->page, e->stretch.to_ns) / 1000);
	json_number(j, "ns", explain_ns(e));
	if (e->parts.count)
		err = err ?: put_text(j, "reason", print_headline, e, 0);
	err = err ?: put_parts(x, e) ?: put_nodes(x, e);
	json_bool(j, "cut", e->cut);
	json_close(j, '}');
	return err;
}

/* ---- all ---- */

static int add_stacks(struct explains *x, const struct explain *e)
{
	uint64_t least = explain_ns(e) / EXPLAIN_TREE_SHARE;
	int err = 0;

	for (size_t i = 0; i < e->parts.count && i < PARTS_MAX && !err; i++)
		err = page_stacks_add(&x->stacks, e->parts.at[i].longest.stack);
	for (size_t i = 1; i < e->nodes.count && !err; i++)
		if (e->nodes.at[i].total_ns >= least)
			err = page_stacks_add(&x->stacks, e->nodes.at[i].longest.stack);
	return err;
}

static int make(struct explains *x, const struct wall *w)
{
	struct timeline *tl;
	uint64_t pieces = 0;
	int err = timeline_new(&tl, w);

	for (size_t i = 0; i < x->stretches.list.count && pieces < PIECES_MAX && !err; i++) {
		struct explain *e;

		err = explain_new(&e, tl, &x->stretches.list.at[i].stretch, true);
		if (err)
			break;
		if (VEC_PUSH(&x->list, e)) {
			explain_free(e);
			err = -ENOMEM;
			break;
		}
		pieces += e->pieces;
		err = add_stacks(x, e);
	}
	timeline_free(tl);
	return err;
}

static int write(struct explains *x)
{
	struct json *j = &x->page->j;
	int err;

	json_open(j, "explain", '{');
	json_number(j, "left_out", x->stretches.list.count - x->list.count);
	err = page_stacks_write(&x->stacks, x->page);
	json_open(j, "list", '[');
	for (size_t i = 0; i < x->list.count && !err; i++)
		err = put_explain(x, x->list.at[i], x->stretches.list.at[i].why);
	json_close(j, ']');
	json_close(j, '}');
	return err;
}

/*
 * Whole threads are explained: without their times off the CPU, or with a part of their stacks, there is nothing to
 * say.
 */
static bool can_explain(const struct page *p)
{
	const struct filter *f = p->an->filter;

	return p->lanes && analyzer_has_times(p->an->a) && !f->include.count && !f->exclude.count;
}

int html_explain(struct page *p, struct wall *wall)
{
	struct explains x = {.page = p};
	int err = 0;

	if (can_explain(p))
		err = stretches_choose(&x.stretches, wall) ?: make(&x, wall) ?: write(&x);
	for (size_t i = 0; i < x.list.count; i++)
		explain_free(x.list.at[i]);
	free(x.list.at);
	page_stacks_free(&x.stacks);
	stretches_free(&x.stretches);
	return err;
}
