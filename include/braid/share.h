// SPDX-License-Identifier: Apache-2.0
/*
 * How room that all recorded processes share is divided: among users first, because the processes of one user can do
 * anything to each other. A user's processes may have `per_free` times as much as is still free, and one process three
 * times as much as its user has left. So something is left for the next process, however many take their part.
 */
#ifndef BRAID_SHARE_H
#define BRAID_SHARE_H

#include <braid/event.h>

#define BRAID_USER_PER_FREE 2
#define BRAID_PROCESS_PER_FREE 3

/* Whether `n` more are in order; `free_of_all` is what is free without them. */
static inline bool braid_share_has(__u64 free_of_all, __u32 per_free, __u64 by_user, __u64 by_process, __u64 n)
{
	__u64 most = per_free * free_of_all;

	return by_user + n <= most && by_process + n <= BRAID_PROCESS_PER_FREE * (most - by_user);
}

#endif
