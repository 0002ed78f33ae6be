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

static int by_bytes(const void *x, const void *y)
{
	const struct hprof_site *a = x, *b = y;

	return compare_u64(b->bytes, a->bytes) ?: compare_u64(a->trace, b->trace);
}

/* `sum` is of objects of the stack, which may have others elsewhere. */
static int add_site(struct hprof_allocated *a, const struct hprof_trace *t, const struct hprof_sum *sum)
{
	struct hprof_site site = {.trace = t->serial, .objects = sum->objects, .bytes = sum->bytes};

	if (t->live && t->objects)
		site.bytes = (uint64_t)((double)t->live / (double)t->objects * (double)sum->objects);
	a->objects += site.objects;
	a->bytes += site.bytes;
	return VEC_PUSH(&a->sites, site);
}

int hprof_allocated_below(struct hprof_allocated *a, const struct hprof *h, const struct hprof_suspects *s, size_t i)
{
	size_t traces = h->dump.traces.count;
	struct hprof_sum *sums;
	int err = 0;

	*a = (struct hprof_allocated){0};
	if (!s->above.at)
		return 0;
	sums = calloc(traces + 1, sizeof(*sums));
	if (!sums)
		return -ENOMEM;
	for (uint32_t p = 1; p <= h->graph.held; p++) {
		uint32_t trace = graph_u32(&s->above)[p] == i + 1 ? graph_u32(&h->trace_of)[hprof_object_at(h, p)] : 0;

		if (!trace)
			continue;
		sums[trace - 1].objects++;
		sums[trace - 1].bytes += hprof_bytes_at(h, p);
	}
	for (size_t t = 0; t < traces && !err; t++)
		err = sums[t].objects ? add_site(a, &h->dump.traces.at[t], &sums[t]) : 0;
	VEC_SORT(&a->sites, by_bytes);
	free(sums);
	if (err)
		hprof_allocated_free(a);
	return err;
}

void hprof_allocated_free(struct hprof_allocated *a)
{
	free(a->sites.at);
	*a = (struct hprof_allocated){0};
}
