// SPDX-License-Identifier: Apache-2.0
/* The pools: a fixed share of what is still free for each user and for each of the user's processes. */
#include "pools.h"

#include "util/owner.h"

#include <braid/share.h>
#include <stdlib.h>
#include <sys/stat.h>

#define OTHERS ((uid_t)-1)
/*
 * The memory pool of other users' processes: this part of the machine's memory, within limits. That of root's and the
 * recording user's processes is twice as large.
 */
#define MEMORY_PART 256
#define MEMORY_MIN (128ULL << 20)
#define MEMORY_MAX (1ULL << 30)
#define OWN_PROBES 12 /* eight for one user; setting one waits for all CPUs, and so does removing it */
#define LIBJVMS 64
#define PERF_MAPS 256
#define FRAMES 65536
#define NOTICES 8192
#define REFUSALS 256
#define MODULES (32UL << 20)
#define QUEUED 4096
#define SYMBOLS (64UL << 20)
#define BOUND 32768
/* New mappings exist beside the old ones for a moment, and extents are powers of two. */
#define MAPPINGS_PART 4

/* What strangers' files can take: files of root and of the recording user have no pool. */
static uint64_t of_strangers(uint64_t room)
{
	return room / 4 * 3;
}

void pools_open(struct pools *p, const struct pool_room *room)
{
	uint64_t bytes = room->memory / MEMORY_PART;

	bytes = bytes < MEMORY_MIN ? MEMORY_MIN : bytes;
	bytes = bytes > MEMORY_MAX ? MEMORY_MAX : bytes;
	*p = (struct pools){0};
	p->strangers = p->known = (struct pool_set){.size = {[POOL_MEMORY] = bytes,
							     [POOL_MAPPINGS] = room->mappings / MAPPINGS_PART,
							     [POOL_JVMS] = room->jvms / 2,
							     [POOL_PROBED] = room->jvms / 2,
							     [POOL_PROBES] = OWN_PROBES,
							     [POOL_LIBJVMS] = LIBJVMS,
							     [POOL_ATTACHES] = room->jvms / 2,
							     [POOL_PERF_MAPS] = PERF_MAPS,
							     [POOL_FRAMES] = FRAMES,
							     [POOL_NOTICES] = NOTICES,
							     [POOL_REFUSALS] = REFUSALS,
							     [POOL_MODULES] = MODULES,
							     [POOL_QUEUED] = QUEUED,
							     [POOL_SYMBOLS] = SYMBOLS,
							     [POOL_TABLES] = of_strangers(room->tables),
							     [POOL_ROWS] = of_strangers(room->rows),
							     [POOL_PAGES] = of_strangers(room->pages),
							     [POOL_BOUND] = BOUND}};
	p->known.size[POOL_MEMORY] *= 2;
}

void pools_close(struct pools *p)
{
	struct share *s, *next;

	HASH_ITER (hh, p->by_user, s, next) {
		HASH_DEL(p->by_user, s);
		free(s);
	}
}

struct share *pools_share(struct pools *p, uid_t user)
{
	struct share *s;

	HASH_FIND(hh, p->by_user, &user, sizeof(user), s);
	if (s)
		return s;
	if (user != OTHERS && HASH_COUNT(p->by_user) >= POOL_USERS_MAX)
		return pools_share(p, OTHERS);
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->user = user;
	s->number = HASH_COUNT(p->by_user) + 1;
	s->set = share_known(s) ? &p->known : &p->strangers;
	HASH_ADD(hh, p->by_user, user, sizeof(user), s);
	return s;
}

bool share_has(const struct share *s, enum pool pool, uint64_t own, uint64_t n)
{
	const struct pool_set *set = s->set;

	if (set->used[pool] >= set->size[pool] || n > set->size[pool] - set->used[pool])
		return false;
	return braid_share_has(set->size[pool] - set->used[pool] - n, BRAID_USER_PER_FREE, s->used[pool], own, n);
}

void share_add(struct share *s, enum pool pool, int64_t n)
{
	s->used[pool] += (uint64_t)n;
	s->set->used[pool] += (uint64_t)n;
}

bool share_take(struct share *s, enum pool pool, uint64_t n)
{
	if (!share_has(s, pool, 0, n))
		return false;
	share_add(s, pool, (int64_t)n);
	return true;
}

bool share_known(const struct share *s)
{
	const struct stat of = {.st_uid = s->user};

	return owner_known(&of);
}
