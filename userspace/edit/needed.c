// SPDX-License-Identifier: Apache-2.0
#include "needed.h"

#include <errno.h>
#include <stdlib.h>

struct needed_object {
	bool needed;
	uint32_t first; /* of its uses, as in struct needed_use */
};

void needed_init(struct needed *n)
{
	*n = (struct needed){0};
	for (unsigned i = 0; i < TRACE_ID_SPACES; i++)
		table_init(&n->objects[i], sizeof(struct needed_object));
}

void needed_free(struct needed *n)
{
	for (unsigned i = 0; i < TRACE_ID_SPACES; i++)
		table_free(&n->objects[i]);
	free(n->uses.at);
	free(n->open.at);
}

/* What a record defines or describes comes first among its ids. */
struct definition {
	struct needed *n;
	struct needed_id owner; /* id 0: none yet */
	int err;
};

static uint32_t definition_take(void *ctx, enum trace_id_space space, enum trace_id_role role, uint32_t id)
{
	struct definition *d = ctx;
	struct needed_object *owner;

	if (d->err)
		return id;
	if (role != TRACE_ID_USED) {
		d->owner = (struct needed_id){space, id};
		return id;
	}
	if (!d->owner.id)
		return id;
	owner = table_put(&d->n->objects[d->owner.space], d->owner.id);
	d->err = owner ? VEC_PUSH(&d->n->uses, (struct needed_use){{space, id}, owner->first}) : -ENOMEM;
	if (!d->err)
		owner->first = (uint32_t)d->n->uses.count;
	return id;
}

int needed_define(struct needed *n, const struct trace_rec *rec)
{
	struct definition d = {.n = n};

	trace_ids_visit(rec, definition_take, &d);
	return d.err;
}

static int need(struct needed *n, struct needed_id at)
{
	struct needed_object *o = table_put(&n->objects[at.space], at.id);

	if (!o)
		return -ENOMEM;
	if (o->needed)
		return 0;
	o->needed = true;
	return VEC_PUSH(&n->open, at);
}

static uint32_t event_take(void *ctx, enum trace_id_space space, enum trace_id_role role, uint32_t id)
{
	struct definition *d = ctx;

	(void)role;
	if (!d->err)
		d->err = need(d->n, (struct needed_id){space, id});
	return id;
}

int needed_event(struct needed *n, const struct trace_rec *rec)
{
	struct definition d = {.n = n};

	trace_ids_visit(rec, event_take, &d);
	return d.err;
}

int needed_close(struct needed *n)
{
	int err = 0;

	while (n->open.count && !err) {
		struct needed_id at = n->open.at[--n->open.count];
		const struct needed_object *o = table_get(&n->objects[at.space], at.id);

		for (uint32_t use = o->first; use && !err; use = n->uses.at[use - 1].next)
			err = need(n, n->uses.at[use - 1].of);
	}
	return err;
}

static bool is_needed(const struct needed *n, enum trace_id_space space, uint32_t id)
{
	const struct needed_object *o = table_get(&n->objects[space], id);

	return o && o->needed;
}

struct question {
	const struct needed *n;
	bool owner, all;
};

static uint32_t ask(void *ctx, enum trace_id_space space, enum trace_id_role role, uint32_t id)
{
	struct question *q = ctx;
	bool needed = is_needed(q->n, space, id);

	q->all = q->all && needed;
	if (role != TRACE_ID_USED)
		q->owner = needed;
	return id;
}

bool needed_has(const struct needed *n, const struct trace_rec *rec)
{
	struct question q = {n, true, true};

	trace_ids_visit(rec, ask, &q);
	return q.owner;
}

bool needed_has_all(const struct needed *n, const struct trace_rec *rec)
{
	struct question q = {n, true, true};

	trace_ids_visit(rec, ask, &q);
	return q.all;
}
