// SPDX-License-Identifier: Apache-2.0
#include "deferred_wait.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#define WAIT_NS 1000000000ULL
#define BYTES_MAX (8U << 20)
#define PROCESS_BYTES_MAX (BYTES_MAX / 2)

struct waiting {
	struct waiting *prev, *next;
	uint64_t since_ns;
	struct braid_event_deferred event; /* and what belongs to it */
};

struct deferred_wait {
	struct waiting *oldest;
	uint64_t results; /* as of the last time */
	size_t bytes;
};

void deferred_wait_free(struct deferred_wait *w)
{
	struct waiting *each, *next;

	if (!w)
		return;
	DL_FOREACH_SAFE(w->oldest, each, next)
	{
		free(each);
	}
	free(w);
}

static bool has_room(const struct deferred_wait *w, const struct braid_event_deferred *e)
{
	const struct waiting *each;
	size_t own = e->hdr.size;

	if (w->bytes + e->hdr.size > BYTES_MAX)
		return false;
	DL_FOREACH (w->oldest, each) {
		if (each->event.pid == e->pid)
			own += each->event.hdr.size;
	}
	return own <= PROCESS_BYTES_MAX;
}

bool deferred_wait_put(struct deferred_wait **w, const struct braid_event_deferred *e, uint64_t now)
{
	struct waiting *new;

	if (!*w)
		*w = calloc(1, sizeof(**w));
	if (!*w || !has_room(*w, e))
		return false;
	new = malloc(sizeof(*new) - sizeof(new->event) + e->hdr.size);
	if (!new)
		return false;
	new->since_ns = now;
	memcpy(&new->event, e, e->hdr.size);
	DL_APPEND((*w)->oldest, new);
	(*w)->bytes += e->hdr.size;
	return true;
}

void deferred_wait_each(struct deferred_wait *w, uint64_t now, uint64_t results,
			bool (*take)(void *ctx, const struct braid_event_deferred *e, bool last), void *ctx)
{
	struct waiting *each, *next;
	bool all, last;

	if (!w)
		return;
	all = results != w->results;
	w->results = results;
	DL_FOREACH_SAFE(w->oldest, each, next)
	{
		last = now - each->since_ns > WAIT_NS;
		if (!all && !last)
			return; /* those behind it are younger */
		if (!take(ctx, &each->event, last))
			continue;
		DL_DELETE(w->oldest, each);
		w->bytes -= each->event.hdr.size;
		free(each);
	}
}
