// SPDX-License-Identifier: Apache-2.0
#include "by_root.h"

#include "util/compare.h"

#include <errno.h>
#include <stdlib.h>

#define IS_CLASS UINT32_MAX /* what a place has before its row is known; else the rank of its root and 1; 0: neither */

struct by_root_reading {
	struct hprof *h;
	struct hprof_by_root *r;
	uint32_t row_of_rank[HPROF_ROOT_RANKS]; /* index + 1 */
	uint32_t row_of_several;
};

/* The place of an object that is held; 0: it is not. */
static uint32_t held_place(const struct hprof *h, uint32_t object)
{
	uint32_t place = object == HPROF_NONE ? 0 : graph_u32(&h->graph.place)[object];

	return place <= h->graph.held ? place : 0;
}

static void mark_roots(const struct hprof *h, uint32_t *rows)
{
	for (size_t i = 0; i < h->dump.roots.count; i++) {
		const struct hprof_root_of *root = &h->dump.roots.at[i];
		uint32_t place = root->thread == HPROF_NONE ? held_place(h, root->object) : 0;
		uint32_t rank = (uint32_t)hprof_root_rank(root) + 1;

		if (place && (!rows[place] || rank < rows[place]))
			rows[place] = rank;
	}
	for (size_t i = 0; i < h->dump.classes.count; i++) {
		uint64_t id = h->dump.classes.at[i].id;
		uint32_t place = id ? held_place(h, hprof_find(&h->dump, id)) : 0;

		if (place)
			rows[place] = IS_CLASS;
	}
}

/* A new row: its index and 1. 0: no memory. */
static uint32_t row_new(struct hprof_by_root *r, enum hprof_by_root_kind kind, uint32_t place, const char *root)
{
	struct hprof_by_root_row row = {.kind = (uint8_t)kind, .place = place, .root = root};

	return VEC_PUSH(&r->rows, row) ? 0 : (uint32_t)r->rows.count;
}

/* The row of a place, index + 1; those of the places before are known. */
static uint32_t row_of(struct by_root_reading *b, const uint32_t *rows, uint32_t place)
{
	uint32_t above = graph_u32(&b->h->graph.above)[place], rank = rows[place] - 1, *row;

	if (rows[place] == IS_CLASS)
		return row_new(b->r, HPROF_BY_CLASS, place, NULL);
	if (above)
		return rows[above];
	if (!rows[place]) {
		row = &b->row_of_several;
		*row = *row ?: row_new(b->r, HPROF_BY_SEVERAL, 0, NULL);
		return *row;
	}
	if (rank == HPROF_ROOT_RANK_THREAD)
		return row_new(b->r, HPROF_BY_THREAD, place, NULL);
	row = &b->row_of_rank[rank];
	*row = *row ?: row_new(b->r, HPROF_BY_KIND, 0, hprof_root_rank_text(rank));
	return *row;
}

static int by_bytes(const void *x, const void *y)
{
	const struct hprof_by_root_row *p = x, *q = y;
	int c = compare_u64(q->sum.bytes, p->sum.bytes);

	c = c ?: compare_u64(p->kind, q->kind);
	return c ?: compare_u64(p->place, q->place);
}

int hprof_by_root_read(struct hprof_by_root *r, struct hprof *h)
{
	struct by_root_reading b = {.h = h, .r = r};
	struct scratch scratch = {0};
	uint32_t *rows;
	int err;

	*r = (struct hprof_by_root){0};
	err = scratch_resize(&scratch, &h->dump.room, ((uint64_t)h->graph.held + 1) * sizeof(*rows));
	if (err)
		return err;
	rows = graph_u32(&scratch);
	mark_roots(h, rows);
	for (uint32_t p = 1; p <= h->graph.held && !err; p++) {
		rows[p] = row_of(&b, rows, p);
		if (!rows[p]) {
			err = -ENOMEM;
			break;
		}
		r->rows.at[rows[p] - 1].sum.objects++;
		r->rows.at[rows[p] - 1].sum.bytes += hprof_bytes_at(h, p);
	}
	scratch_free(&scratch);
	VEC_SORT(&r->rows, by_bytes);
	return err;
}

void hprof_by_root_free(struct hprof_by_root *r)
{
	free(r->rows.at);
	*r = (struct hprof_by_root){0};
}
