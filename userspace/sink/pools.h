// SPDX-License-Identifier: Apache-2.0
/*
 * Pools bound what all recorded processes together take of the recorder; budgets.c calls them. braid/share.h has how a
 * pool is divided among users and processes. Processes of root and of the recording user have pools of their own.
 */
#ifndef BRAID_SINK_POOLS_H
#define BRAID_SINK_POOLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uthash.h>

#include <braid/event.h>

enum pool {
	POOL_MEMORY,	/* bytes */
	POOL_MAPPINGS,	/* entries of the kernel side's map */
	POOL_JVMS,	/* slots of the kernel side */
	POOL_PROBED,	/* entries of its map of JVMs with probes */
	POOL_PROBES,	/* JVMs with probes of their own */
	POOL_LIBJVMS,	/* libjvm.so files of their users */
	POOL_ATTACHES,	/* JVMs that are being attached to: sockets, staged files, children */
	POOL_PERF_MAPS, /* open files */
	POOL_FRAMES,	/* to be named at the end */
	POOL_NOTICES,	/* in the whole recording */
	POOL_REFUSALS,	/* JVMs without an agent that the summary lists */
	POOL_MODULES, /* bytes for files that are mapped; this and what follows is charged by process/module_budget.c */
	POOL_FILE_TIME, /* ns of CPU time for reading them, which grows with the recording's time */
	POOL_QUEUED,	/* files that wait to be read */
	POOL_SYMBOLS,	/* bytes */
	POOL_TABLES,	/* unwind tables on the kernel side; their rows; their pages */
	POOL_ROWS,
	POOL_PAGES,
	POOL_BOUND, /* functions that are named by native methods */
	POOLS
};

#define POOL_USERS_MAX (BRAID_USERS - 2U) /* users beyond these share one part */

struct pool_set {
	uint64_t size[POOLS], used[POOLS];
};

/* One user's part. */
struct share {
	struct pool_set *set;
	uint64_t used[POOLS];
	uint32_t number;     /* of the map `user_shares` */
	uint32_t reported;   /* bit n: the used-up pool of budget n has been announced */
	bool files_reported; /* that some of its files are left out has been announced */
	uid_t user;
	UT_hash_handle hh;
};

struct pools {
	struct pool_set known, strangers; /* for root and the recording user; for everybody else */
	struct share *by_user;
};

/* The machine's memory in bytes, and what the kernel side has room for. */
struct pool_room {
	uint64_t memory, mappings, jvms, tables, rows, pages;
};

void pools_open(struct pools *p, const struct pool_room *room);
void pools_close(struct pools *p);

/* NULL without memory: then only the budgets of each process bound what the user's processes take. */
struct share *pools_share(struct pools *p, uid_t user);

/* Whether a process of the user that holds `own` may take `n` more. */
bool share_has(const struct share *s, enum pool pool, uint64_t own, uint64_t n);
void share_add(struct share *s, enum pool pool, int64_t n);
/* Takes `n` for no process in particular. False: there is no room. */
bool share_take(struct share *s, enum pool pool, uint64_t n);
/* Whether the user is root or the recording user. */
bool share_known(const struct share *s);

#endif
