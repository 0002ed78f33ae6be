// SPDX-License-Identifier: Apache-2.0
/*
 * Lets the calling thread act as another user. What it creates in a process's file system then has that user's rights
 * only and belongs to that user from the start, so no link can turn root's rights against anyone. Staging and the
 * attaching child use this.
 */
#ifndef BRAID_ATTACH_AS_USER_H
#define BRAID_ATTACH_AS_USER_H

#include <stdbool.h>
#include <sys/types.h>

#define AS_USER_GROUPS_MAX 256

struct as_user {
	bool changed;
	int dumpable;
	uid_t uid; /* the user to return to */
	gid_t gid;
	int group_count;
	gid_t groups[AS_USER_GROUPS_MAX];
};

/* -EPERM unless the caller is root or that user already. */
int as_user_begin(struct as_user *saved, uid_t uid, gid_t gid);

/* Returns to the saved user. It aborts when that fails, since the process must not go on with other rights. */
void as_user_end(struct as_user *saved);

/* Becomes that user for good, in a child process: real, effective and saved ids, no supplementary groups. */
int as_user_forever(uid_t uid, gid_t gid);

#endif
