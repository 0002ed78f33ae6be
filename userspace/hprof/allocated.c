// SPDX-License-Identifier: Apache-2.0
#include "allocated.h"

#include "util/compare.h"

#include <errno.h>
#include <stdlib.h>

uint32_t hprof_allocated_by(const struct hprof *h, uint32_t object)
{
	uint32_t trace = h->trace_of.at ? graph_u32(&h->trace_of)[object] : 0;

	return trace ? h->dump.traces.at[trace - 1].serial : 0;
}

/* Bytes of `objects` of a stack's objects, of which these have `own` bytes. */
static uint64_t stand_for(const struct hprof_trace *t, uint64_t objects, uint64_t own)
{
	return t->live && t->objects ? (uint64_t)((double)t->live / (double)t->objects * (double)objects) : own;
}

/* Whether the object is what the suspect is: its only object, or one of many that nothing has in common. */
static bool is_suspect(const struct hprof *h, const struct hprof_suspect *s, uint32_t place)
{
	return s->place ? s->place == place
			: !graph_u32(&h->graph.above)[place] && hprof_class_at(h, place) == s->groups[0].class;
}

/* The suspect below which each place is, index + 1. A place is before those that it dominates. */
static void find_owners(const struct hprof *h, const struct hprof_suspects *s, uint32_t *owner)
{
	const uint32_t *above = graph_u32(&h->graph.above);

	for (uint32_t p = 1; p <= h->graph.held; p++) {
		owner[p] = owner[above[p]];
		for (size_t i = 0; i < s->list.count; i++) {
			if (!is_suspect(h, &s->list.at[i], p))
				continue;
			owner[p] = (uint32_t)i + 1;
			if (s->list.at[i].place)
				break;
		}
	}
}

static int by_bytes(const void *x, const void *y)
{
	const struct hprof_site *a = x, *b = y;

	return compare_u64(b->bytes, a->bytes) ?: compare_u64(a->trace, b->trace);
}

/* Adds up by stack; `sums` has as many elements as the dump has stacks. */
static int add_up(struct hprof_allocated *a, const struct hprof *h, const uint32_t *owner, uint32_t wanted,
		  struct hprof_sum *sums)
{
	for (uint32_t p = 1; p <= h->graph.held; p++) {
		uint32_t trace = owner[p] == wanted ? graph_u32(&h->trace_of)[hprof_object_at(h, p)] : 0;

		if (!trace)
			continue;
		sums[trace - 1].objects++;
		sums[trace - 1].bytes += hprof_bytes_at(h, p);
	}
	for (size_t i = 0; i < h->dump.traces.count; i++) {
		const struct hprof_trace *t = &h->dump.traces.at[i];
		struct hprof_site site = {.trace = t->serial, .objects = sums[i].objects};

		if (!site.objects)
			continue;
		site.bytes = stand_for(t, site.objects, sums[i].bytes);
		a->objects += site.objects;
		a->bytes += site.bytes;
		if (VEC_PUSH(&a->sites, site))
			return -ENOMEM;
	}
	VEC_SORT(&a->sites, by_bytes);
	return 0;
}

int hprof_allocated_below(struct hprof_allocated *a, struct hprof *h, const struct hprof_suspects *s, size_t i)
{
	struct hprof_sum *sums;
	struct scratch owner = {0};
	int err;

	*a = (struct hprof_allocated){0};
	if (!h->trace_of.at)
		return 0;
	sums = calloc(h->dump.traces.count + 1, sizeof(*sums));
	err = sums ? scratch_resize(&owner, &h->dump.room, ((uint64_t)h->graph.held + 1) * sizeof(uint32_t)) : -ENOMEM;
	if (!err) {
		find_owners(h, s, owner.at);
		err = add_up(a, h, owner.at, (uint32_t)i + 1, sums);
	}
	free(sums);
	scratch_free(&owner);
	if (err)
		hprof_allocated_free(a);
	return err;
}

void hprof_allocated_free(struct hprof_allocated *a)
{
	free(a->sites.at);
	*a = (struct hprof_allocated){0};
}
