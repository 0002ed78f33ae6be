// SPDX-License-Identifier: Apache-2.0
#include "heap.h"

#include "classes.h"
#include "references.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t size_of(const struct hprof *h, uint32_t object)
{
	return (uint64_t)graph_u32(&h->size)[object] * HPROF_UNIT;
}

/* Whether the dump has stacks that are not those of threads. */
static bool has_allocations(const struct hprof_dump *d)
{
	size_t of_threads = 0, all = 0;

	for (size_t i = 0; i < d->threads.count; i++) {
		const struct hprof_trace *t = hprof_trace_find(d, d->threads.at[i].trace);

		of_threads += t && t->count;
	}
	for (size_t i = 0; i < d->traces.count; i++)
		all += d->traces.at[i].count != 0;
	return all > of_threads;
}

/* The second time through the dump: references, classes and sizes. */
static int read_references(struct hprof *h)
{
	struct hprof_dump *d = &h->dump;
	struct references r = {.d = d, .g = &h->graph};
	uint64_t bytes = (uint64_t)d->count * sizeof(uint32_t);
	int err;

	err = scratch_resize(&h->class_of, &d->room, bytes);
	err = err ? err : scratch_resize(&h->size, &d->room, bytes);
	if (!err && has_allocations(d))
		err = scratch_resize(&h->trace_of, &d->room, bytes);
	err = err ? err : graph_init(&h->graph, &d->room, d->count);
	if (!err) {
		r.class_of = graph_u32(&h->class_of);
		r.length = graph_u32(&h->size);
		r.trace_of = h->trace_of.at;
		err = references_read(&r);
	}
	h->dangling = r.dangling;
	references_free(&r);
	return err ? err : hprof_sizes(d, graph_u32(&h->class_of), graph_u32(&h->size));
}

static void add_up(const struct hprof *h, struct hprof_sum *sum, uint32_t object)
{
	sum->objects++;
	sum->bytes += size_of(h, object);
}

static void sum_up(struct hprof *h)
{
	const struct graph *g = &h->graph;

	for (uint32_t i = 0; i < h->dump.count; i++) {
		uint32_t place = graph_u32(&g->place)[i];
		struct hprof_class *c = &h->dump.classes.at[graph_u32(&h->class_of)[i]];

		add_up(h, !place ? &h->garbage : place <= g->held ? &h->held : &h->weakly, i);
		if (place && place <= g->held) {
			c->objects++;
			c->bytes += size_of(h, i);
		}
	}
}

/* A place is before those that it dominates. */
static int retain(struct hprof *h)
{
	const struct graph *g = &h->graph;
	uint64_t places = (uint64_t)g->held + 1;
	uint64_t *retained;
	uint32_t *below, *beside, *above = graph_u32(&g->above);
	int err;

	err = scratch_resize(&h->retained, &h->dump.room, places * sizeof(*retained));
	err = err ? err : scratch_resize(&h->below, &h->dump.room, places * sizeof(*below));
	err = err ? err : scratch_resize(&h->beside, &h->dump.room, places * sizeof(*beside));
	if (err)
		return err;
	retained = graph_u64(&h->retained);
	below = graph_u32(&h->below);
	beside = graph_u32(&h->beside);
	for (uint32_t p = g->held; p; p--) {
		retained[p] += hprof_bytes_at(h, p);
		retained[above[p]] += retained[p];
		beside[p] = below[above[p]];
		below[above[p]] = p;
	}
	return 0;
}

/*
 * What the objects of each class retain: the sum for those that no object of the class dominates. The walk through the
 * tree keeps how many of each class are above.
 */
static int retain_by_class(struct hprof *h)
{
	const uint32_t *below = graph_u32(&h->below), *beside = graph_u32(&h->beside),
		       *above = graph_u32(&h->graph.above);
	uint32_t *on_the_way = calloc(h->dump.classes.count, sizeof(*on_the_way));
	uint32_t p = below[0];

	if (!on_the_way)
		return -ENOMEM;
	while (p) {
		uint32_t class = hprof_class_at(h, p);

		if (!on_the_way[class]++)
			h->dump.classes.at[class].retained += hprof_retained_at(h, p);
		if (below[p]) {
			p = below[p];
			continue;
		}
		on_the_way[class]--;
		while (p && !beside[p]) {
			p = above[p];
			if (p)
				on_the_way[hprof_class_at(h, p)]--;
		}
		p = beside[p];
	}
	free(on_the_way);
	return 0;
}

int hprof_open(struct hprof *h, const char *path, uint64_t memory)
{
	int err;

	*h = (struct hprof){0};
	err = hprof_dump_open(&h->dump, path, memory);
	if (err)
		return err;
	err = read_references(h);
	err = err ? err : graph_walk(&h->graph);
	err = err ? err : graph_turn(&h->graph);
	err = err ? err : graph_dominators(&h->graph);
	err = err ? err : retain(h);
	if (!err)
		sum_up(h);
	err = err ? err : retain_by_class(h);
	return hprof_dump_fail(&h->dump, err);
}

void hprof_close(struct hprof *h)
{
	hprof_dump_close(&h->dump);
	graph_free(&h->graph);
	scratch_free(&h->class_of);
	scratch_free(&h->size);
	scratch_free(&h->trace_of);
	scratch_free(&h->retained);
	scratch_free(&h->below);
	scratch_free(&h->beside);
}
