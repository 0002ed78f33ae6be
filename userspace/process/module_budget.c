// SPDX-License-Identifier: Apache-2.0
#include "module_budget.h"

#include "sink/sink.h"
#include "util/stint.h"

#define FILE_WORK_NS 500000000ULL /* at a time; the largest files take 300 ms */
/* CPU time granted at first, and the fraction of the time since then that adds to it. */
#define WORK_NS 10000000000ULL
#define WORK_PART 20U

struct share *module_share(struct share *user)
{
	return user && !share_known(user) ? user : NULL;
}

bool module_may_exist(struct share *s, size_t bytes)
{
	return !s || share_take(s, POOL_MODULES, bytes);
}

void module_is_for_all(struct share *s, size_t bytes)
{
	if (s)
		share_add(s, POOL_MODULES, -(int64_t)bytes);
}

bool module_may_bind(struct share *s)
{
	return !s || share_take(s, POOL_BOUND, 1);
}

bool module_work_begin(struct module_work *w, struct share *s, uint64_t since_ns)
{
	*w = (struct module_work){.share = s};
	if (!s)
		return true;
	s->set->size[POOL_FILE_TIME] = WORK_NS + (now_ns() - since_ns) / WORK_PART;
	if (!share_has(s, POOL_FILE_TIME, 0, 1))
		return false;
	w->began_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
	stint_begin(FILE_WORK_NS);
	return true;
}

void module_work_end(const struct module_work *w)
{
	if (!w->share)
		return;
	stint_end();
	share_add(w->share, POOL_FILE_TIME, (int64_t)(clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - w->began_ns));
}

bool module_may_have_table(struct share *s, uint64_t rows, uint64_t pages)
{
	if (!s)
		return true;
	if (!share_has(s, POOL_TABLES, 0, 1) || !share_has(s, POOL_ROWS, 0, rows) ||
	    !share_has(s, POOL_PAGES, 0, pages))
		return false;
	share_add(s, POOL_TABLES, 1);
	share_add(s, POOL_ROWS, (int64_t)rows);
	share_add(s, POOL_PAGES, (int64_t)pages);
	return true;
}

bool module_may_have_symbols(const struct share *s)
{
	return !s || share_has(s, POOL_SYMBOLS, 0, 1);
}

void module_has_symbols(struct share *s, size_t bytes)
{
	if (s)
		share_add(s, POOL_SYMBOLS, (int64_t)bytes);
}

bool module_first_left_out(struct share *s)
{
	bool first = !s->files_reported;

	s->files_reported = true;
	return first;
}
