// SPDX-License-Identifier: Apache-2.0
#include "module_budget.h"

#include "sink/sink.h"
#include "util/owner.h"
#include "util/stint.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <uthash.h>

#define USERS_MAX 1024U /* users beyond these share an account: one user can have many user ids */
#define OTHERS ((uid_t)-1)
#define USER_MODULES_MAX 16384U
#define USER_FILES_MAX (8UL << 20) /* bytes of paths and entries */
#define ALL_FILES_MAX (32UL << 20)
#define USER_BOUND_MAX 8192U
#define ALL_BOUND_MAX 32768U
#define USER_SYMBOLS_MAX (32UL << 20)
#define ALL_SYMBOLS_MAX (64UL << 20)
#define FILE_WORK_NS                                                                                                   \
	500000000ULL /* at a time; the ring holds samples of that time, and the largest files take 300 ms */
/* CPU time granted at first, and the fraction of the time since then that adds to it. */
#define USER_WORK_NS 4000000000ULL
#define USER_WORK_PART 50U
#define ALL_WORK_NS 10000000000ULL
#define ALL_WORK_PART 20U
/* In quarters of the room for unwind tables. */
#define USER_TABLES 2U
#define ALL_TABLES 3U

struct module_account {
	uid_t user;
	uint32_t modules;
	uint64_t spent_ns, rows, pages, began_ns;
	size_t symbols, files; /* bytes */
	uint32_t bound;
	bool left_out;
	UT_hash_handle hh;
};

struct module_account *module_account(struct module_budget *b, uid_t user)
{
	struct stat of = {.st_uid = user};
	struct module_account *a;

	if (owner_known(&of))
		return NULL;
	HASH_FIND(hh, b->by_user, &user, sizeof(user), a);
	if (a)
		return a;
	if (user != OTHERS && HASH_COUNT(b->by_user) >= USERS_MAX)
		return module_account(b, OTHERS);
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->user = user;
	HASH_ADD(hh, b->by_user, user, sizeof(user), a);
	return a;
}

void module_budget_free(struct module_budget *b)
{
	struct module_account *a, *next;

	HASH_ITER (hh, b->by_user, a, next) {
		HASH_DEL(b->by_user, a);
		free(a);
	}
}

bool module_may_exist(struct module_budget *b, struct module_account *a, size_t bytes)
{
	if (!a)
		return true;
	if (a->modules == USER_MODULES_MAX || a->files + bytes > USER_FILES_MAX || b->files + bytes > ALL_FILES_MAX)
		return false;
	a->modules++;
	a->files += bytes;
	b->files += bytes;
	return true;
}

void module_is_for_all(struct module_budget *b, struct module_account *a, size_t bytes)
{
	if (!a)
		return;
	a->modules--;
	a->files -= bytes;
	b->files -= bytes;
}

bool module_may_bind(struct module_budget *b, struct module_account *a)
{
	if (!a)
		return true;
	if (a->bound == USER_BOUND_MAX || b->bound == ALL_BOUND_MAX)
		return false;
	a->bound++;
	b->bound++;
	return true;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000ULL + (uint64_t)t.tv_nsec;
}

bool module_work_begin(struct module_budget *b, struct module_account *a)
{
	uint64_t passed = now_ns() - b->since_ns;

	if (!a)
		return true;
	if (a->spent_ns > USER_WORK_NS + passed / USER_WORK_PART || b->spent_ns > ALL_WORK_NS + passed / ALL_WORK_PART)
		return false;
	a->began_ns = cpu_ns();
	stint_begin(FILE_WORK_NS);
	return true;
}

void module_work_end(struct module_budget *b, struct module_account *a)
{
	uint64_t spent = a ? cpu_ns() - a->began_ns : 0;

	if (!a)
		return;
	stint_end();
	a->spent_ns += spent;
	b->spent_ns += spent;
}

bool module_may_have_table(struct module_budget *b, struct module_account *a, uint64_t rows, uint64_t pages)
{
	if (!a)
		return true;
	if (a->rows + rows > b->rows_max / 4 * USER_TABLES || a->pages + pages > b->pages_max / 4 * USER_TABLES ||
	    b->rows + rows > b->rows_max / 4 * ALL_TABLES || b->pages + pages > b->pages_max / 4 * ALL_TABLES)
		return false;
	a->rows += rows;
	a->pages += pages;
	b->rows += rows;
	b->pages += pages;
	return true;
}

bool module_may_have_symbols(const struct module_budget *b, const struct module_account *a)
{
	return !a || (a->symbols < USER_SYMBOLS_MAX && b->symbols < ALL_SYMBOLS_MAX);
}

void module_has_symbols(struct module_budget *b, struct module_account *a, size_t bytes)
{
	if (!a)
		return;
	a->symbols += bytes;
	b->symbols += bytes;
}

bool module_first_left_out(struct module_account *a)
{
	bool first = !a->left_out;

	a->left_out = true;
	return first;
}
