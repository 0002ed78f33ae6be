// SPDX-License-Identifier: Apache-2.0
#include "lanes.h"

#include <stdlib.h>
#include <string.h>

uint64_t lanes_time(const struct page *p, uint64_t time_ns)
{
	if (time_ns < p->from_ns)
		time_ns = p->from_ns;
	return analysis_since(p->an, time_ns < p->to_ns ? time_ns : p->to_ns);
}

/* Sixteen buckets for each power of two. */
static unsigned bucket_of(uint64_t ns)
{
	unsigned bits = ns < 16 ? 4 : 63U - (unsigned)__builtin_clzll(ns);

	return ns < 16 ? (unsigned)ns : (bits - 3) * 16 + (unsigned)(ns >> (bits - 4) & 15);
}

/* ---- what there is ---- */

int lanes_begin(struct lanes *l, uint32_t id)
{
	uint64_t span_ns = l->page->to_ns - l->page->from_ns;

	for (unsigned level = 0; level < BIN_LEVELS; level++)
		bins_init(&l->bins[level], level, span_ns);
	return VEC_PUSH(&l->list, (struct lane){.id = id});
}

int lanes_measure(struct lanes *l, uint32_t key, uint64_t start_ns, uint64_t end_ns)
{
	struct lane *lane = &l->list.at[l->list.count - 1];
	uint64_t before_ns = analysis_since(l->page->an, l->page->from_ns);
	int err = 0;

	if (start_ns >= end_ns)
		return 0;
	lane->of++;
	l->budget.of_length[bucket_of(end_ns - start_ns)]++;
	for (unsigned level = 0; level < BIN_LEVELS && !err; level++)
		err = bins_add(&l->bins[level], key, start_ns - before_ns, end_ns - before_ns);
	return err;
}

int lanes_end(struct lanes *l)
{
	struct lane *lane = &l->list.at[l->list.count - 1];
	int err = 0;

	for (unsigned level = 0; level < BIN_LEVELS; level++) {
		err = err ?: bins_finish(&l->bins[level]);
		lane->bins[level] = l->bins[level].packed;
	}
	return err;
}

/* ---- what the page takes ---- */

static void fit_segments(struct lane_budget *b)
{
	uint64_t sum = 0;
	unsigned i = LANE_BUCKETS;

	while (i > 0 && sum + b->of_length[i - 1] <= b->most)
		sum += b->of_length[--i];
	b->least = i;
	if (i > 0) {
		b->least = i - 1;
		b->room = b->most - sum;
		b->at_least = b->of_length[i - 1];
	}
}

/* Finer bins for all lanes as long as they fit; those with most segments come first. */
static void fit_bins(struct lanes *l, size_t bytes)
{
	for (size_t i = 0; i < l->list.count; i++)
		bytes -= l->list.at[i].bins[0].bytes.count < bytes ? l->list.at[i].bins[0].bytes.count : bytes;
	for (unsigned level = 1; level < BIN_LEVELS; level++)
		for (size_t i = 0; i < l->list.count; i++) {
			struct lane *lane = &l->list.at[i];
			size_t more = lane->bins[level].bytes.count - lane->bins[level - 1].bytes.count;

			if (lane->bins[level].bytes.count < lane->bins[level - 1].bytes.count)
				more = 0;
			if (lane->level != level - 1 || more > bytes)
				continue;
			bytes -= more;
			lane->level = level;
		}
}

static int compare_lanes(const void *x, const void *y)
{
	const struct lane *p = x, *q = y;

	if (p->of != q->of)
		return p->of > q->of ? -1 : 1;
	return p->id < q->id ? -1 : p->id > q->id;
}

void lanes_fit(struct lanes *l, size_t bin_bytes)
{
	VEC_SORT(&l->list, compare_lanes);
	fit_segments(&l->budget);
	fit_bins(l, bin_bytes);
}

/* A time on the page is a multiple of 100 ns. */
#define PAGE_NS 100U

int lanes_keep(struct lanes *l, struct lane *lane, uint64_t start_ns, uint64_t end_ns, bool *kept)
{
	struct lane_budget *b = &l->budget;
	uint64_t before_ns = lane->kept ? lane->end_ns : analysis_since(l->page->an, l->page->from_ns) / 1000 * 1000;
	unsigned bucket = start_ns < end_ns ? bucket_of(end_ns - start_ns) : 0;

	*kept = start_ns < end_ns && bucket >= b->least;
	if (*kept && b->at_least && bucket == b->least) { /* evenly among them */
		b->n++;
		*kept = wall_share(b->n, b->room, b->at_least) > wall_share(b->n - 1, b->room, b->at_least);
	}
	if (!*kept)
		return 0;
	lane->kept++;
	lane->end_ns = end_ns;
	return pack_put(&lane->segments, start_ns / PAGE_NS - before_ns / PAGE_NS)
		       ?: pack_put(&lane->segments, end_ns / PAGE_NS - start_ns / PAGE_NS);
}

/* A lane that is in the page as a whole, and short, needs no bins. */
#define LANE_SMALL 1000U

int lanes_write(struct lanes *l, const struct lane *lane)
{
	const struct pack *bins = &lane->bins[lane->level];
	struct json *j = &l->page->j;
	int err;

	json_number(j, "of", lane->of);
	json_number(j, "kept", lane->kept);
	err = pack_json(j, "segments", lane->segments.bytes.at, lane->segments.bytes.count);
	if (lane->kept < lane->of || lane->of > LANE_SMALL) {
		json_number(j, "bin_ns",
			    (l->page->to_ns - l->page->from_ns) / ((uint64_t)BINS_COARSEST << lane->level) + 1);
		err = err ?: pack_json(j, "bins", bins->bytes.at, bins->bytes.count);
	}
	return err;
}

void lanes_free(struct lanes *l)
{
	for (size_t i = 0; i < l->list.count; i++) {
		for (unsigned level = 0; level < BIN_LEVELS; level++)
			pack_free(&l->list.at[i].bins[level]);
		pack_free(&l->list.at[i].segments);
	}
	free(l->list.at);
}
