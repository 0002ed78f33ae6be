// SPDX-License-Identifier: Apache-2.0
#include "as_user.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The raw calls change the calling thread only; glibc's would change every thread of the process (nptl(7)). */
static int thread_setgroups(int count, const gid_t *groups)
{
	return syscall(SYS_setgroups, (long)count, groups) < 0 ? -errno : 0;
}

static int thread_seteuid(uid_t uid)
{
	return syscall(SYS_setresuid, -1L, (long)uid, -1L) < 0 ? -errno : 0;
}

static int thread_setegid(gid_t gid)
{
	return syscall(SYS_setresgid, -1L, (long)gid, -1L) < 0 ? -errno : 0;
}

int as_user_begin(struct as_user *saved, uid_t uid, gid_t gid)
{
	int err;

	*saved = (struct as_user){.uid = geteuid(), .gid = getegid(), .dumpable = prctl(PR_GET_DUMPABLE)};
	if (saved->uid == uid && saved->gid == gid)
		return 0;
	if (saved->uid != 0)
		return saved->uid == uid ? 0 : -EPERM;
	saved->group_count = getgroups(AS_USER_GROUPS_MAX, saved->groups);
	if (saved->group_count < 0)
		return -errno;
	err = thread_setgroups(0, NULL);
	if (err)
		return err;
	saved->changed = true;
	err = thread_setegid(gid);
	if (!err)
		err = thread_seteuid(uid);
	if (err)
		as_user_end(saved);
	return err;
}

void as_user_end(struct as_user *saved)
{
	if (!saved->changed)
		return;
	saved->changed = false;
	if (thread_seteuid(saved->uid) || thread_setegid(saved->gid) ||
	    thread_setgroups(saved->group_count, saved->groups))
		abort();
	/*
	 * The change of ids cleared it (commit_creds). While it is cleared, the process's /proc files and core dumps
	 * belong to root.
	 */
	prctl(PR_SET_DUMPABLE, 1);
}

int as_user_forever(uid_t uid, gid_t gid)
{
	if (geteuid() == uid && getegid() == gid)
		return 0;
	if (geteuid() == uid && geteuid() != 0)
		return 0; /* this user already, without the right to change groups */
	if (geteuid() != 0)
		return -EPERM;
	if (thread_setgroups(0, NULL))
		return -errno;
	if (syscall(SYS_setresgid, (long)gid, (long)gid, (long)gid) < 0 ||
	    syscall(SYS_setresuid, (long)uid, (long)uid, (long)uid) < 0)
		return -errno;
	return 0;
}
