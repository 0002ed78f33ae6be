// SPDX-License-Identifier: Apache-2.0
#include "span_bounds.h"

#include <analyze/events.h>
#include <analyze/hits.h>
#include <analyze/spans.h>
#include <util/compare.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool span_source(const struct analyzer *a, size_t i, struct span_source *to)
{
	const char *sampling = analyzer_info(a, "record.event");
	const struct hit_event *h = i < a->hits.count ? &a->hits.at[i] : NULL;

	if (h)
		*to = (struct span_source){strpool_get(&a->strings, h->name), h->samples.at, h->samples.count,
					   h->values.at, h->values.count};
	else
		*to = (struct span_source){sampling, a->samples.at, a->samples.count, a->sampling.values.at,
					   a->sampling.values.count};
	return h || (i == a->hits.count && strchr(sampling, ':'));
}

int span_bounds_add_hits(const struct span_source *s, bool ends, struct span_bounds *to)
{
	int err = 0;

	for (size_t i = 0; !err && i < s->count; i++) {
		const struct sample *one = &s->samples[i];

		err = VEC_PUSH(to, ((struct span_bound){one->time_ns, span_owner(one->thread, one->vthread), ends}));
	}
	return err;
}

/* Of the whole name, else of the only event that is named so. */
static int find_source(const struct analyzer *a, const char *typed, struct span_source *to)
{
	struct span_source s;
	size_t found = 0;

	for (size_t i = 0; *typed && span_source(a, i, &s); i++) {
		if (strcmp(s.name, typed) == 0) {
			*to = s;
			return 0;
		}
		if (hits_named(s.name, typed)) {
			*to = s;
			found++;
		}
	}
	return found == 1 ? 0 : found ? -ENOTUNIQ : -ENOENT;
}

/* ---- system calls ---- */

#define ENTER "syscalls:sys_enter_"
#define EXIT "syscalls:sys_exit_"

/*
 * "accept" is accept4, too, which is what programs call that the C library translates. `end` are those behind a name.
 */
static bool is_call(const char *name, const char *typed, const char *end)
{
	size_t length = strlen(typed);

	if (strncmp(name, typed, length) != 0)
		return false;
	name += length;
	name += strspn(name, "0123456789");
	return !*name || strchr(end, *name);
}

static int add_tracepoints(const struct analyzer *a, const char *prefix, const char *typed, bool ends,
			   struct span_bounds *to)
{
	struct span_source s;
	int err = 0;

	for (size_t i = 0; !err && span_source(a, i, &s); i++)
		if (strncmp(s.name, prefix, strlen(prefix)) == 0 && is_call(s.name + strlen(prefix), typed, "/{"))
			err = span_bounds_add_hits(&s, ends, to);
	return err;
}

static int add_calls(const struct analyzer *a, const char *typed, bool ends, struct span_bounds *to)
{
	int err = 0;

	for (size_t i = 0; !err && i < a->events.count; i++) {
		const struct jvm_event_row *r = &a->events.at[i];

		if (r->kind == BRAID_JVM_SYSCALL && r->thread &&
		    is_call(strpool_get(&a->strings, r->detail), typed, ""))
			err = VEC_PUSH(to,
				       ((struct span_bound){event_end_ns(r), span_owner(r->thread, r->vthread), ends}));
	}
	return err;
}

int span_bounds_add(const struct analyzer *a, const char *typed, bool ends, struct span_bounds *to)
{
	struct span_source s;
	size_t before = to->count;
	int err = find_source(a, typed, &s);

	if (!err)
		return span_bounds_add_hits(&s, ends, to);
	if (err != -ENOENT || !*typed)
		return err;
	err = add_tracepoints(a, EXIT, typed, ends, to);
	if (!err && to->count == before)
		err = add_calls(a, typed, ends, to);
	if (!err && to->count == before)
		err = add_tracepoints(a, ENTER, typed, ends, to);
	return err ?: to->count == before ? -ENOENT : 0;
}

/* ---- what there is ---- */

static void list_one(char *to, size_t size, const char *name)
{
	size_t used = strlen(to);

	snprintf(to + used, size - used, "%s%s", used ? ", " : "", name);
}

void span_bounds_list(const struct analyzer *a, char *to, size_t size)
{
	struct u64map seen = {0};
	struct span_source s;

	*to = '\0';
	for (size_t i = 0; span_source(a, i, &s); i++)
		list_one(to, size, s.name);
	for (size_t i = 0; i < a->events.count; i++) {
		const struct jvm_event_row *r = &a->events.at[i];

		if (r->kind == BRAID_JVM_SYSCALL && r->detail && u64map_add(&seen, r->detail) == 1)
			list_one(to, size, strpool_get(&a->strings, r->detail));
	}
	u64map_free(&seen);
}

/* ---- order ---- */

static int compare_bounds(const void *x, const void *y)
{
	const struct span_bound *p = x, *q = y;

	return compare_u64(p->owner, q->owner) ?: compare_u64(p->time_ns, q->time_ns) ?: q->ends - p->ends;
}

void span_bounds_sort(struct span_bounds *b)
{
	VEC_SORT(b, compare_bounds);
}
