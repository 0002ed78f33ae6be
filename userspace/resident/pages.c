// SPDX-License-Identifier: Apache-2.0
#include "pages.h"

#include "resident_state.h"
#include "util/compare.h"

#include <unistd.h>

#define RUNS_MAX (1U << 22) /* 64 MiB of them */

struct adding {
	struct page_runs *to;
	int err;
};

static void add_pages(void *ctx, uint64_t start, uint64_t end)
{
	struct page_runs *to = ((struct adding *)ctx)->to;
	struct page_run *last = to->all.count ? &to->all.at[to->all.count - 1] : NULL;
	int *err = &((struct adding *)ctx)->err;

	if (last && last->end == start)
		last->end = end;
	else if (!*err)
		*err = to->all.count < RUNS_MAX ? VEC_PUSH(&to->all, (struct page_run){start, end}) : -EFBIG;
}

static int by_start(const void *x, const void *y)
{
	const struct page_run *a = x, *b = y;

	return compare_u64(a->start, b->start);
}

int page_runs_read(struct page_runs *to, const struct resident *r)
{
	struct adding adding = {.to = to};
	struct pagemap pagemap;
	int err = pagemap_open(&pagemap, r->pid);

	for (size_t i = 0; i < r->parts.count && !err && !adding.err; i++)
		if (r->parts.at[i].resident)
			err = pagemap_walk(&pagemap, r->parts.at[i].start, r->parts.at[i].end, add_pages, &adding);
	pagemap_close(&pagemap);
	VEC_SORT(&to->all, by_start);
	return err ?: adding.err;
}

int page_runs_new(struct page_runs *to, const struct page_runs *before, const struct page_runs *after)
{
	size_t old = 0;
	int err = 0;

	for (size_t i = 0; i < after->all.count && !err; i++) {
		uint64_t at = after->all.at[i].start, end = after->all.at[i].end;

		while (old < before->all.count && before->all.at[old].end <= at)
			old++;
		for (size_t k = old; k < before->all.count && before->all.at[k].start < end && !err; k++) {
			if (before->all.at[k].start > at)
				err = VEC_PUSH(&to->all, (struct page_run){at, before->all.at[k].start});
			at = before->all.at[k].end;
		}
		if (at < end && !err)
			err = VEC_PUSH(&to->all, (struct page_run){at, end});
	}
	return err;
}

void page_runs_free(struct page_runs *p)
{
	free(p->all.at);
	*p = (struct page_runs){0};
}
