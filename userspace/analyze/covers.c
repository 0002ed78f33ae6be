// SPDX-License-Identifier: Apache-2.0
#include "covers.h"

#include <errno.h>

#include <util/compare.h>
#include <util/search.h>

/* Whose a cover is. A virtual thread's is its carrier's, too, for times of which only the carrier is known. */
enum { OF_THREAD, OF_CARRIER, OF_VIRTUAL };

/* The OS thread, whatever its name was. */
static uint64_t os_thread(const struct analyzer *a, const struct jvm_event_row *r)
{
	const struct thread_row *t = table_get(&a->threads, r->thread);

	return t ? (uint64_t)t->process << 32 | t->tid : 0;
}

static uint64_t park_key(const struct jvm_event_row *r)
{
	return r->time_ns + (r->thread + ((uint64_t)r->vthread << 32)) * 0x9e3779b97f4a7c15ULL;
}

static int compare(const void *x, const void *y)
{
	const struct cover *p = x, *q = y;

	return compare_u64(p->how, q->how)
		       ?: compare_u64(p->of, q->of)
		       ?: compare_u64(p->start_ns, q->start_ns)
		       ?: compare_u64(p->reach_ns, q->reach_ns);
}

static int add(struct covers *c, uint32_t how, uint64_t of, const struct jvm_event_row *r)
{
	struct cover fresh = {
		.how = how, .of = of, .start_ns = r->time_ns, .reach_ns = add_saturating(r->time_ns, r->duration_ns)};

	return of ? VEC_PUSH(&c->list, fresh) : 0;
}

static int take(struct covers *c, const struct analyzer *a, const struct jvm_event_row *r)
{
	bool lock = r->kind == BRAID_JVM_LOCK;
	uint32_t *park = NULL;

	if (lock && r->flags & BRAID_LOCK_PARKED) {
		if (r->source == BRAID_SOURCE_KERNEL)
			park = u64map_put(&c->parks, park_key(r));
		if (park)
			*park = 1;
		return park || r->source != BRAID_SOURCE_KERNEL ? 0 : -ENOMEM;
	}
	if (!lock && r->kind != BRAID_JVM_WAIT)
		return 0;
	if (!r->vthread)
		return add(c, OF_THREAD, os_thread(a, r), r);
	return add(c, OF_VIRTUAL, r->vthread, r) ?: add(c, OF_CARRIER, os_thread(a, r), r);
}

int covers_find(struct covers *c, const struct analyzer *a)
{
	int err = 0;

	for (size_t i = 0; i < a->events.count && !err; i++)
		err = take(c, a, &a->events.at[i]);
	VEC_SORT(&c->list, compare);
	for (size_t i = 1; i < c->list.count; i++) {
		const struct cover *last = &c->list.at[i - 1];
		struct cover *one = &c->list.at[i];

		if (last->how == one->how && last->of == one->of && last->reach_ns > one->reach_ns)
			one->reach_ns = last->reach_ns;
	}
	return err;
}

void covers_free(struct covers *c)
{
	free(c->list.at);
	u64map_free(&c->parks);
	*c = (struct covers){0};
}

static bool has(const struct covers *c, uint32_t how, uint64_t of, uint64_t time_ns)
{
	const struct cover *at = c->list.at, key = {.how = how, .of = of, .start_ns = time_ns, .reach_ns = UINT64_MAX};
	size_t next = SEARCH(i, 0, c->list.count, compare(&at[i], &key) <= 0);

	return next && at[next - 1].how == how && at[next - 1].of == of && at[next - 1].reach_ns > time_ns;
}

bool covers_have(const struct covers *c, const struct analyzer *a, const struct jvm_event_row *r, enum blocked_why why)
{
	uint64_t time_ns = r->time_ns + (add_saturating(r->time_ns, r->duration_ns) - r->time_ns) / 2;

	if (why == BLOCKED_PARKED)
		return u64map_get(&c->parks, park_key(r));
	if ((why != BLOCKED_WAITING && why != BLOCKED_MONITOR) || !c->list.count)
		return false;
	return (r->vthread && has(c, OF_VIRTUAL, r->vthread, time_ns)) || has(c, OF_THREAD, os_thread(a, r), time_ns) ||
	       (!r->vthread && has(c, OF_CARRIER, os_thread(a, r), time_ns));
}
