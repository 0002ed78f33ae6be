// SPDX-License-Identifier: Apache-2.0
#include "tables.h"

#include "util/compare.h"

#include <errno.h>
#include <stdlib.h>

static int by_retained(const void *a, const void *b, void *ctx)
{
	const struct hprof *h = ctx;
	uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
	uint64_t x = hprof_retained_at(h, p), y = hprof_retained_at(h, q);

	return x != y ? compare_u64(y, x) : compare_u64(p, q);
}

static void sort(const struct hprof *h, uint32_t *places, size_t count)
{
	if (count)
		qsort_r(places, count, sizeof(*places), by_retained, (void *)h);
}

int hprof_biggest(const struct hprof *h, size_t most, struct hprof_places *places)
{
	const uint32_t *above = graph_u32(&h->graph.above);
	VEC(uint32_t) best = {0};
	uint64_t least = 0; /* what the last of `most` retains */

	*places = (struct hprof_places){0};
	for (uint32_t p = 1; p <= h->graph.held; p++) {
		if (hprof_retained_at(h, p) <= least)
			continue;
		if (above[p] && hprof_class_at(h, above[p]) == hprof_class_at(h, p))
			continue;
		if (VEC_PUSH(&best, p)) {
			free(best.at);
			return -ENOMEM;
		}
		if (best.count / 2 < most)
			continue;
		sort(h, best.at, best.count);
		best.count = most;
		least = most ? hprof_retained_at(h, best.at[most - 1]) : UINT64_MAX;
	}
	sort(h, best.at, best.count);
	places->at = best.at;
	places->count = best.count < most ? best.count : most;
	return 0;
}

/*
 * Those that the place immediately dominates and that retain at least `least` bytes, the largest first; *rest sums up
 * the others. 0 or -ENOMEM.
 */
static int find_below(const struct hprof *h, uint32_t place, uint64_t least, struct hprof_places *places,
		      struct hprof_sum *rest)
{
	VEC(uint32_t) large = {0};

	*places = (struct hprof_places){0};
	*rest = (struct hprof_sum){0};
	for (uint32_t p = graph_u32(&h->below)[place]; p; p = graph_u32(&h->beside)[p]) {
		if (hprof_retained_at(h, p) < least) {
			rest->objects++;
			rest->bytes += hprof_retained_at(h, p);
		} else if (VEC_PUSH(&large, p)) {
			free(large.at);
			return -ENOMEM;
		}
	}
	sort(h, large.at, large.count);
	places->at = large.at;
	places->count = large.count;
	return 0;
}

void hprof_places_free(struct hprof_places *places)
{
	free(places->at);
	*places = (struct hprof_places){0};
}

/* ---- the tree of dominators ---- */

static int enter(struct hprof_tree *t, uint32_t place)
{
	struct hprof_level *level = &t->level[t->depth];
	int err = find_below(t->h, place, t->h->held.bytes / 100 + 1, &level->places, &level->rest);

	if (err)
		return err;
	while (level->places.count > t->rows) {
		level->rest.objects++;
		level->rest.bytes += hprof_retained_at(t->h, level->places.at[--level->places.count]);
	}
	level->next = 0;
	t->depth++;
	return 0;
}

int hprof_tree_begin(struct hprof_tree *t, const struct hprof *h, unsigned levels, size_t rows)
{
	*t = (struct hprof_tree){.h = h, .levels = levels < HPROF_LEVELS_MAX ? levels : HPROF_LEVELS_MAX, .rows = rows};
	return levels ? enter(t, 0) : 0;
}

int hprof_tree_next(struct hprof_tree *t, struct hprof_tree_row *row)
{
	while (t->depth) {
		struct hprof_level *level = &t->level[t->depth - 1];

		*row = (struct hprof_tree_row){.depth = t->depth - 1, .rest = level->rest};
		if (level->next < level->places.count) {
			row->place = level->places.at[level->next++];
			return t->depth == t->levels || !enter(t, row->place) ? 1 : -ENOMEM;
		}
		hprof_places_free(&level->places);
		t->depth--;
		/* Without a large one there is nothing to compare the others with. */
		if (level->next && level->rest.objects)
			return 1;
	}
	return 0;
}

void hprof_tree_end(struct hprof_tree *t)
{
	while (t->depth)
		hprof_places_free(&t->level[--t->depth].places);
}

/* ---- classes ---- */

static int class_by_retained(const void *a, const void *b, void *ctx)
{
	const struct hprof *h = ctx;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct hprof_class *x = &h->dump.classes.at[i], *y = &h->dump.classes.at[j];

	return x->retained != y->retained ? compare_u64(y->retained, x->retained) : compare_u64(i, j);
}

uint32_t *hprof_classes_by_retained(const struct hprof *h, size_t *count)
{
	uint32_t *list = malloc((h->dump.classes.count + 1) * sizeof(*list));

	*count = 0;
	for (uint32_t c = 0; list && c < h->dump.classes.count; c++)
		if (h->dump.classes.at[c].objects)
			list[(*count)++] = c;
	if (*count)
		qsort_r(list, *count, sizeof(*list), class_by_retained, (void *)h);
	return list;
}
