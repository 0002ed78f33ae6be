// SPDX-License-Identifier: Apache-2.0
/* The report's table of writes to fields, by field and by the method that writes it. event_views.c calls it. */
#include <errno.h>

#include "event_views.h"

#include <util/compare.h>

static struct write_view *row_of(struct event_views *v, const struct analysis *an, struct u64map *rows,
				 const struct event *e)
{
	struct write_view fresh = {
		.field = e->name, .writer = strpool_get(&an->a->strings, e->row->detail), .field_id = e->row->name};
	uint32_t *at = u64map_put(rows, ((uint64_t)e->row->name << 32 | e->row->detail) + 1);

	if (!at)
		return NULL;
	if (!*at) {
		if (VEC_PUSH(&v->writes, fresh))
			return NULL;
		*at = (uint32_t)v->writes.count;
	}
	return &v->writes.at[*at - 1];
}

static int compare_writes(const void *a, const void *b)
{
	const struct write_view *p = a, *q = b;

	return compare_u64(q->field_writes, p->field_writes)
		       ?: compare_u64(p->field_id, q->field_id)
		       ?: compare_u64(q->writes, p->writes);
}

static int add_up_fields(struct event_views *v)
{
	struct u64map sums = {0}; /* by field: number of the sum + 1 */
	VEC(uint64_t) of = {0};
	int err = 0;

	for (size_t i = 0; i < v->writes.count && !err; i++) {
		const struct write_view *w = &v->writes.at[i];
		uint32_t *at = u64map_put(&sums, (uint64_t)w->field_id + 1);

		if (!at || (!*at && VEC_PUSH(&of, 0)))
			err = -ENOMEM;
		else if (!*at)
			*at = (uint32_t)of.count;
		if (!err)
			of.at[*at - 1] = add_saturating(of.at[*at - 1], w->writes);
	}
	for (size_t i = 0; i < v->writes.count && !err; i++)
		v->writes.at[i].field_writes = of.at[*u64map_put(&sums, (uint64_t)v->writes.at[i].field_id + 1) - 1];
	u64map_free(&sums);
	free(of.at);
	return err;
}

int event_views_writes(struct event_views *v, const struct analysis *an)
{
	struct u64map rows = {0}; /* by field and writer: number + 1 */
	int err = 0;

	for (size_t i = 0; i < an->a->events.count && !err; i++) {
		uint32_t kind = an->a->events.at[i].kind;
		struct write_view *w;
		struct event e;

		if ((kind != BRAID_JVM_FIELD && kind != BRAID_JVM_FIELD_WRITES) || !events_get(an, i, &e))
			continue;
		w = row_of(v, an, &rows, &e);
		if (!w)
			err = -ENOMEM;
		else if (kind == BRAID_JVM_FIELD)
			w->events++;
		else
			w->writes = add_saturating(w->writes, e.row->value);
	}
	u64map_free(&rows);
	err = err ?: add_up_fields(v);
	VEC_SORT(&v->writes, compare_writes);
	return err;
}
