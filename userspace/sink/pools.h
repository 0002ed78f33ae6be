// SPDX-License-Identifier: Apache-2.0
/*
 * Pools bound what all recorded processes together take of the recorder; budgets.c calls them. A pool is divided among
 * users first, because the processes of one user can do anything to each other. A user may have twice as much as is
 * still free, and one process three times as much as its user has left. So something is left for the next process,
 * however many take their part. Processes of root and of the recording user have pools of their own.
 */
#ifndef BRAID_SINK_POOLS_H
#define BRAID_SINK_POOLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uthash.h>

enum pool {
	POOL_MEMORY,	/* bytes */
	POOL_MAPPINGS,	/* entries of the kernel side's map */
	POOL_JVMS,	/* slots of the kernel side */
	POOL_PROBED,	/* entries of its map of JVMs with probes */
	POOL_PROBES,	/* JVMs with probes of their own in files of their users */
	POOL_LIBJVMS,	/* such files */
	POOL_ATTACHES,	/* JVMs that are being attached to: sockets, staged files, children */
	POOL_PERF_MAPS, /* open files */
	POOL_FRAMES,	/* to be named at the end */
	POOLS
};

#define POOL_USERS_MAX 1024U /* users beyond these share one part */

struct pool_set {
	uint64_t size[POOLS], used[POOLS];
};

/* One user's part. */
struct share {
	struct pool_set *set;
	uint64_t used[POOLS];
	uint32_t reported; /* bit n: the used-up pool of budget n has been announced */
	uid_t user;
	UT_hash_handle hh;
};

struct pools {
	struct pool_set known, strangers; /* for root and the recording user; for everybody else */
	struct share *by_user;
};

/* `memory` is the machine's, in bytes; the others are what the kernel side has room for. */
void pools_open(struct pools *p, uint64_t memory, uint64_t mappings, uint64_t jvms);
void pools_close(struct pools *p);

/* NULL without memory: then only the budgets of each process bound what the user's processes take. */
struct share *pools_share(struct pools *p, uid_t user);

/* Whether a process of the user that holds `own` may take `n` more. */
bool share_has(const struct share *s, enum pool pool, uint64_t own, uint64_t n);
void share_add(struct share *s, enum pool pool, int64_t n);

#endif
