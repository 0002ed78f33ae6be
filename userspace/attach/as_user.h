// SPDX-License-Identifier: Apache-2.0
/*
 * Acting as another user for a moment, in this thread only: what is made in a process's file system is then made with
 * that user's rights and no others, belongs to it from the first instant, and no link can turn root's rights against
 * somebody.
 */
#ifndef BRAID_ATTACH_AS_USER_H
#define BRAID_ATTACH_AS_USER_H

#include <stdbool.h>
#include <sys/types.h>

#define AS_USER_GROUPS_MAX 256

struct as_user {
	bool changed;
	int dumpable;
	uid_t uid; /* to go back to */
	gid_t gid;
	int group_count;
	gid_t groups[AS_USER_GROUPS_MAX];
};

/* -EPERM unless root or already that user. */
int as_user_begin(struct as_user *saved, uid_t uid, gid_t gid);

/* Goes back. A process that cannot get its own rights again must not go on: this aborts it. */
void as_user_end(struct as_user *saved);

/* Becomes that user for good, in a child process: real, effective and saved ids, no supplementary groups. */
int as_user_forever(uid_t uid, gid_t gid);

#endif
