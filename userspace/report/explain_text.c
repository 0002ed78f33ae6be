// SPDX-License-Identifier: Apache-2.0
/* The critical path as text. `braid explain` calls it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "explain.h"

static void text_thread(FILE *out, const struct explain *e)
{
	char took[QUANTITY_TEXT];

	fprintf(out, "%s (%" PRIu64, wall_thread_name(e->wall, e->stretch.thread),
		wall_thread_number(e->wall, e->stretch.thread));
	text_container(out, e->wall->an, wall_thread_process(e->wall, e->stretch.thread));
	fputs(e->stretch.path && e->stretch.path->legs.count > 1 ? "), and other threads before it, took " : ") took ",
	      out);
	fputs(duration_text(took, explain_ns(e)), out);
	if (e->left_out_ns)
		fprintf(out, ", but for %s in which it was idle", duration_text(took, e->left_out_ns));
}

/* ---- the headline ---- */

static void text_headline(FILE *out, const struct explain *e)
{
	const struct explain_part *p = e->parts.count ? &e->parts.at[0] : NULL;

	text_thread(out, e);
	if (!p) {
		fputs(": nothing is recorded of it\n", out);
		return;
	}
	fprintf(out, ": %.0f%% ", percent(p->ns, explain_ns(e)));
	explain_reason(out, e, p);
	fputs("\n  from ", out);
	explain_moment(out, e->wall->an, e->stretch.from_ns);
	fputs(" to ", out);
	explain_moment(out, e->wall->an, e->stretch.to_ns);
	fputs(" of the recording\n", out);
}

/* ---- threads of a span ---- */

static void text_legs(FILE *out, const struct explain *e, const struct span_leg *legs, size_t count, unsigned top)
{
	char time[QUANTITY_TEXT];

	for (size_t i = 0; i < count && i < top; i++) {
		fprintf(out, "  %11s  from ", duration_cell(time, 11, legs[i].to_ns - legs[i].from_ns));
		explain_moment(out, e->wall->an, legs[i].from_ns);
		fprintf(out, "  %s (%" PRIu64 ")\n", wall_thread_name(e->wall, legs[i].thread),
			wall_thread_number(e->wall, legs[i].thread));
	}
	text_more(out, 4, count, top);
}

static void text_path(FILE *out, const struct explain *e, unsigned top)
{
	const struct span_path *p = e->stretch.path;

	if (!p)
		return;
	fputs("\nThreads seen in the span\n", out);
	text_legs(out, e, p->seen.at, p->seen.count, top);
	fputs("\nWho had it, which is what is explained\n", out);
	text_legs(out, e, p->legs.at, p->legs.count, top);
	if (p->guesses)
		fprintf(out,
			"  %zu time%s several threads were in the span, and no wake-up says which of them handed it on: "
			"the order is a guess\n",
			p->guesses, plural(p->guesses));
}

/* ---- parts ---- */

/* What the part is, and below it, indented by that many columns, what the thread itself waited for meanwhile. */
static void text_reason(FILE *out, const struct explain *e, const struct explain_part *p, int indent)
{
	explain_what(out, e, p->node, ROW_NONE);
	putc('\n', out);
	if (p->wait == p->node)
		return;
	fprintf(out, "%*sfor: ", indent, "");
	explain_what(out, e, p->wait, ROW_NONE);
	putc('\n', out);
}

static void text_part(FILE *out, const struct explain *e, const struct explain_part *p)
{
	char time[QUANTITY_TEXT], max[QUANTITY_TEXT];

	fprintf(out, "  %6.2f%%  %11s", percent(p->ns, explain_ns(e)), duration_cell(time, 11, p->ns));
	if (p->count && !e->nodes.at[p->node].shared)
		fprintf(out, "  %8" PRIu64 "  %10s  ", p->count, duration_cell(max, 10, p->longest.ns));
	else
		fprintf(out, "  %8s  %10s  ", "-", "-");
	text_reason(out, e, p, 47);
}

static void text_parts(FILE *out, const struct explain *e, unsigned top)
{
	fprintf(out, "\n  %7s  %11s  %8s  %10s  %s\n", "share", "time", "count", "max", "what and where");
	for (size_t i = 0; i < e->parts.count && i < top; i++)
		text_part(out, e, &e->parts.at[i]);
	text_more(out, 4, e->parts.count, top);
}

/* ---- the tree ---- */

struct ranked {
	const struct explain *e;
	uint32_t *order; /* children of a node are together, the longest first */
	uint32_t *first; /* of each node: its first child in order; their count follows by the parents */
};

static int compare_nodes(const void *x, const void *y, void *ctx)
{
	const struct explain *e = ctx;
	uint32_t p = *(const uint32_t *)x, q = *(const uint32_t *)y;
	const struct explain_node *m = &e->nodes.at[p], *n = &e->nodes.at[q];

	if (m->parent != n->parent)
		return m->parent < n->parent ? -1 : 1;
	if (m->total_ns != n->total_ns)
		return m->total_ns > n->total_ns ? -1 : 1;
	return p < q ? -1 : 1;
}

static void text_node(FILE *out, const struct explain *e, uint32_t node)
{
	const struct explain_node *n = &e->nodes.at[node];
	int indent = 2 * (int)n->depth;

	fprintf(out, "  %6.2f%%%*s", percent(n->total_ns, explain_ns(e)), indent, "");
	explain_what(out, e, node, ROW_NONE);
	if (*n->ended_by)
		fprintf(out, ", until %s", n->ended_by);
	putc('\n', out);
	if (n->longest.stack == ROW_NONE || (n->site == ROW_NONE && n->state == WALL_RUNNING))
		return;
	fprintf(out, "%*s", 13 + indent, "");
	explain_stack(out, e->wall->an, n->longest.stack);
	putc('\n', out);
}

static void text_children(FILE *out, const struct ranked *r, uint32_t parent)
{
	for (size_t i = r->first[parent]; i < r->e->nodes.count; i++) {
		const struct explain_node *n = &r->e->nodes.at[r->order[i]];

		if (n->parent != parent || !r->order[i] || n->total_ns < explain_ns(r->e) / EXPLAIN_TREE_SHARE)
			return;
		text_node(out, r->e, r->order[i]);
		text_children(out, r, r->order[i]);
	}
}

static void text_tree(FILE *out, const struct explain *e)
{
	size_t count = e->nodes.count;
	struct ranked r = {e, calloc(count + 1, sizeof(*r.order)), calloc(count + 1, sizeof(*r.first))};

	if (r.order && r.first) {
		for (uint32_t i = 0; i < count; i++) {
			r.order[i] = i;
			r.first[i] = (uint32_t)count;
		}
		qsort_r(r.order + 1, count - 1, sizeof(*r.order), compare_nodes, (void *)e);
		for (size_t i = count; i-- > 1;)
			r.first[e->nodes.at[r.order[i]].parent] = (uint32_t)i;
		fprintf(out, "\nWhat waited for what, from 1/%d of the time on\n", EXPLAIN_TREE_SHARE);
		text_children(out, &r, 0);
	}
	free(r.order);
	free(r.first);
}

/* ---- the longest piece ---- */

static void text_longest(FILE *out, const struct explain *e)
{
	char time[QUANTITY_TEXT];

	if (!e->longest.ns)
		return;
	fprintf(out, "\nThe longest single piece: %s at ", duration_text(time, e->longest.ns));
	explain_moment(out, e->wall->an, e->longest.at_ns);
	fputs(", ", out);
	explain_what(out, e, e->longest_node, e->longest.thread);
	putc('\n', out);
	if (e->cut)
		fprintf(out, "After %u pieces, no more wakers were followed.\n", EXPLAIN_PIECES);
}

void explain_text(FILE *out, const struct explain *e, unsigned top)
{
	text_headline(out, e);
	text_path(out, e, top);
	text_parts(out, e, top);
	text_tree(out, e);
	text_longest(out, e);
}

/* ---- differences ---- */

static void text_change(FILE *out, const struct explain_diff *d, const struct explain_change *c)
{
	uint64_t before = c->before ? c->before->ns : 0, after = c->after ? c->after->ns : 0;
	const struct explain *e = c->after ? d->after : d->before;
	const struct explain_part *p = c->after ? c->after : c->before;
	char a[QUANTITY_TEXT], b[QUANTITY_TEXT], diff[QUANTITY_TEXT];

	fprintf(out, "  %c%11s  %11s  %11s  ", after < before ? '-' : '+',
		duration_cell(diff, 11, after < before ? before - after : after - before), duration_cell(a, 11, before),
		duration_cell(b, 11, after));
	text_reason(out, e, p, 42);
}

void explain_diff_text(FILE *out, const struct explain_diff *d, unsigned top)
{
	uint64_t before = explain_ns(d->before), after = explain_ns(d->after);
	char text[QUANTITY_TEXT], diff[QUANTITY_TEXT];

	text_thread(out, d->after);
	fprintf(out, ", %s %s than %s", duration_text(diff, after < before ? before - after : after - before),
		after < before ? "less" : "more", duration_text(text, before));
	if (d->typical_of)
		fprintf(out, ", the median of %zu spans", d->typical_of);
	fputs("\n\n", out);
	fprintf(out, "  %12s  %11s  %11s  %s\n", "difference", "against", "this", "what and where");
	for (size_t i = 0; i < d->changes.count && i < top; i++)
		text_change(out, d, &d->changes.at[i]);
	text_more(out, 4, d->changes.count, top);
}
