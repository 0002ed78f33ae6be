// SPDX-License-Identifier: Apache-2.0
#include "span_pairs.h"

#include <analyze/hits.h>
#include <analyze/spans.h>
#include <util/compare.h>
#include "span_make.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BETWEEN ".."

struct bound {
	uint64_t time_ns;
	uint64_t owner; /* span_owner() */
	bool ends;
};

struct pairing {
	struct analyzer *a;
	VEC(struct bound) bounds;
	struct span_stretches spans;
};

/* ---- events ---- */

static int add_bounds(struct pairing *p, const char *typed, bool ends)
{
	const struct hit_event *h;
	int err = hits_by_name(p->a, typed, &h);

	for (size_t i = 0; !err && i < h->samples.count; i++) {
		const struct sample *s = &h->samples.at[i];

		err = VEC_PUSH(&p->bounds, ((struct bound){s->time_ns, span_owner(s->thread, s->vthread), ends}));
	}
	return err;
}

/* ---- pairs ---- */

/* At the same time an end comes first: it is that of an earlier span. */
static int compare_bounds(const void *x, const void *y)
{
	const struct bound *p = x, *q = y;
	int c = compare_u64(p->owner, q->owner);

	if (!c)
		c = compare_u64(p->time_ns, q->time_ns);
	return c ? c : q->ends - p->ends;
}

static int make_pairs(struct pairing *p, struct span_pairs *out)
{
	const struct bound *open = NULL;
	int err = 0;

	VEC_SORT(&p->bounds, compare_bounds);
	for (size_t i = 0; i < p->bounds.count && !err; i++) {
		const struct bound *b = &p->bounds.at[i];

		if (open && (!b->ends || b->owner != open->owner)) {
			out->unfinished++;
			open = NULL;
		}
		if (!b->ends)
			open = b;
		else if (open)
			err = VEC_PUSH(&p->spans, ((struct span_stretch){open->time_ns, b->time_ns, b->owner, 0}));
		if (b->ends)
			open = NULL;
	}
	out->unfinished += open != NULL;
	return err;
}

int span_pairs_define(struct analyzer *a, const char *pair, struct span_pairs *out)
{
	const char *between = strstr(pair, BETWEEN);
	const char *to = between ? between + strlen(BETWEEN) : "";
	struct pairing p = {.a = a};
	int err;

	memset(out, 0, sizeof(*out));
	if (!between || between == pair || !*to || (size_t)(between - pair) >= sizeof(out->missing))
		return -EINVAL;
	snprintf(out->missing, sizeof(out->missing), "%.*s", (int)(between - pair), pair);
	err = add_bounds(&p, out->missing, false);
	if (!err) {
		snprintf(out->missing, sizeof(out->missing), "%s", to);
		err = add_bounds(&p, to, true);
	}
	if (!err)
		err = make_pairs(&p, out) ?: span_make(a, &p.spans);
	out->spans = p.spans.count;
	free(p.bounds.at);
	free(p.spans.at);
	return err;
}
