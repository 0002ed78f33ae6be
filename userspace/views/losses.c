// SPDX-License-Identifier: Apache-2.0
/* The losses of a recording, and of reading it. */
#include <errno.h>
#include <string.h>

#include "views.h"

#include <util/compare.h>

static int compare_losses(const void *x, const void *y)
{
	const struct loss_view *p = x, *q = y;
	int c = strcmp(p->hop, q->hop);

	return c ? c : strcmp(p->kind, q->kind);
}

int loss_views_fill(struct loss_views *to, const struct analyzer *a)
{
	for (size_t i = 0; i < a->losses.count; i++) {
		const struct loss_row *l = &a->losses.at[i];
		struct loss_view view = {strpool_get(&a->strings, l->hop), strpool_get(&a->strings, l->kind), l->count};

		if (l->count && VEC_PUSH(to, view))
			return -ENOMEM;
	}
	VEC_SORT(to, compare_losses);
	return 0;
}

int loss_views_add_damage(struct loss_views *to, const struct analyzer *a, const struct trace_damage *d)
{
	const struct loss_view rows[] = {
		{"file", "block", d->missing_blocks},
		{"file", "byte", d->skipped_bytes},
		{"file", "record", add_saturating(d->bad_records, a->ignored)},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].count && VEC_PUSH(to, rows[i]))
			return -ENOMEM;
	VEC_SORT(to, compare_losses);
	return 0;
}
