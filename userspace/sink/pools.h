// SPDX-License-Identifier: Apache-2.0
/*
 * What all recorded processes together may take of the recorder. A pool is divided among users, since the processes of
 * one user can do to each other what they like: of what is still free a user can have twice as much, and of that one of
 * the user's processes three times as much as the user's others have left. However many take what they can, something
 * is left for the next one. What root's and the recording user's processes take comes from pools of its own.
 */
#ifndef BRAID_SINK_POOLS_H
#define BRAID_SINK_POOLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uthash.h>

enum pool {
	POOL_MEMORY,   /* bytes */
	POOL_MAPPINGS, /* entries of the kernel side's map */
	POOL_JVMS,     /* slots of the kernel side */
	POOLS
};

#define POOL_USERS_MAX 1024U /* those beyond share a part */

struct pool_set {
	uint64_t size[POOLS], used[POOLS];
};

/* A user's part. */
struct share {
	struct pool_set *set;
	uint64_t used[POOLS];
	uid_t user;
	UT_hash_handle hh;
};

struct pools {
	struct pool_set known, strangers; /* root's and the recording user's; everybody else's */
	struct share *by_user;
};

/* `memory`: of the machine, in bytes; how many mappings and JVMs the kernel side has room for. */
void pools_open(struct pools *p, uint64_t memory, uint64_t mappings, uint64_t jvms);
void pools_close(struct pools *p);

/* NULL: no memory for it, then nothing bounds what the user's processes take but what bounds each. */
struct share *pools_share(struct pools *p, uid_t user);

/* May a process of the user, which has `own` so far, have `n` more? */
bool share_has(const struct share *s, enum pool pool, uint64_t own, uint64_t n);
void share_add(struct share *s, enum pool pool, int64_t n);

#endif
