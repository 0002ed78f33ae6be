// SPDX-License-Identifier: Apache-2.0
#include "span_pairs.h"

#include "span_bounds.h"
#include "span_make.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BETWEEN ".."

struct pairing {
	struct span_bounds bounds;
	struct span_stretches spans;
};

static int make_pairs(struct pairing *p, struct span_pairs *out)
{
	const struct span_bound *open = NULL;
	int err = 0;

	span_bounds_sort(&p->bounds);
	for (size_t i = 0; i < p->bounds.count && !err; i++) {
		const struct span_bound *b = &p->bounds.at[i];

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
	struct pairing p = {0};
	int err;

	memset(out, 0, sizeof(*out));
	if (!between || between == pair || !*to || (size_t)(between - pair) >= sizeof(out->missing))
		return -EINVAL;
	snprintf(out->missing, sizeof(out->missing), "%.*s", (int)(between - pair), pair);
	err = span_bounds_add(a, out->missing, false, &p.bounds);
	if (!err) {
		snprintf(out->missing, sizeof(out->missing), "%s", to);
		err = span_bounds_add(a, to, true, &p.bounds);
	}
	if (!err)
		err = make_pairs(&p, out) ?: span_make(a, &p.spans);
	out->spans = p.spans.count;
	free(p.bounds.at);
	free(p.spans.at);
	return err;
}
