// SPDX-License-Identifier: Apache-2.0
#include "notices.h"

bool notices_room(struct notices *n, uint32_t process, bool *first)
{
	struct pair_entry *e = pair_find(&n->reported, process, 0);

	*first = false;
	if (!process) /* about the recording */
		return true;
	if (!e) {
		if (n->reported.count < NOTICES_PROCESSES_MAX)
			e = pair_put(&n->reported, process, 0, 2);
		return e != NULL;
	}
	if (e->value <= NOTICES_MAX) {
		e->value++;
		return true;
	}
	*first = e->extra == 0;
	e->extra += e->extra < UINT32_MAX;
	return false;
}

bool notices_counts(const struct notices *n, uint32_t process)
{
	return pair_find(&n->reported, process, 0);
}

void notices_each_left_out(const struct notices *n, void (*fn)(void *ctx, uint32_t process, uint32_t count), void *ctx)
{
	for (size_t i = 0; i < n->reported.capacity; i++)
		if (n->reported.entries[i].extra)
			fn(ctx, (uint32_t)n->reported.entries[i].a, n->reported.entries[i].extra);
}

void notices_free(struct notices *n)
{
	pair_map_free(&n->reported);
}
