// SPDX-License-Identifier: Apache-2.0
/* The report's table of hot source lines. views.c calls it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "views.h"

#include <util/compare.h>

static int compare_places(const void *x, const void *y)
{
	const struct line_view *p = x, *q = y;
	int c = strcmp(p->name, q->name);

	if (!c)
		c = strcmp(p->file, q->file);
	return c ? c : compare_u64(p->line, q->line);
}

static int compare_weights(const void *x, const void *y)
{
	const struct line_view *p = x, *q = y;
	int c = compare_u64(q->self, p->self);

	return c ? c : compare_places(x, y);
}

/* A frame's last xframe is the innermost one. */
static int add_stack(struct views *v, const struct stack *s, uint64_t self)
{
	const struct expansion *e = s->frame == ROW_NONE ? NULL : &v->an->expansions[s->frame];
	const struct xframe *x = e && e->count ? &v->an->xframes.at[e->first + e->count - 1] : NULL;
	struct line_view line;

	if (!self || !x || !x->line)
		return 0;
	line = (struct line_view){.name = analysis_sym_name(v->an, x->sym),
				  .file = analysis_file(v->an, x),
				  .line = x->line,
				  .self = self};
	return VEC_PUSH(&v->lines, line);
}

int views_lines(struct views *v)
{
	size_t n = 0;
	int err = 0;

	for (size_t i = 0; i < v->an->a->nodes.count && !err; i++)
		err = add_stack(v, &v->an->stacks[i], v->an->samples.on[i].self);
	if (err || !v->lines.count)
		return err;
	VEC_SORT(&v->lines, compare_places);
	for (size_t i = 1; i < v->lines.count; i++) {
		if (compare_places(&v->lines.at[n], &v->lines.at[i]) == 0)
			v->lines.at[n].self += v->lines.at[i].self;
		else
			v->lines.at[++n] = v->lines.at[i];
	}
	v->lines.count = n + 1;
	VEC_SORT(&v->lines, compare_weights);
	return 0;
}
