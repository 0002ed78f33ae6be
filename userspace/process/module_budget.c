// SPDX-License-Identifier: Apache-2.0
#include "module_budget.h"

#include "util/clock.h"

/* CPU time for one file: the largest take a second. */
#define FOREIGN_WORK_NS 500000000ULL
#define TRUSTED_WORK_NS 60000000000ULL
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

bool module_may_wait(struct share *s)
{
	return !s || share_take(s, POOL_QUEUED, 1);
}

void module_waits_no_more(struct share *s)
{
	if (s)
		share_add(s, POOL_QUEUED, -1);
}

bool module_may_work(struct share *s, uint64_t since_ns)
{
	if (!s)
		return true;
	s->set->size[POOL_FILE_TIME] = WORK_NS + (now_ns() - since_ns) / WORK_PART;
	return share_has(s, POOL_FILE_TIME, 0, 1);
}

void module_spent(struct share *s, uint64_t cpu_ns)
{
	if (s)
		share_add(s, POOL_FILE_TIME, (int64_t)cpu_ns);
}

uint64_t module_work_limit(bool foreign)
{
	return foreign ? FOREIGN_WORK_NS : TRUSTED_WORK_NS;
}

uint64_t module_user_turn(const struct share *s)
{
	return s ? 1 + s->used[POOL_FILE_TIME] : 0;
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
