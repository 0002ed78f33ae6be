// SPDX-License-Identifier: Apache-2.0
/* Opens files below a directory that another process may have arranged, without following that process elsewhere. */
#ifndef BRAID_UTIL_ROOT_FILE_H
#define BRAID_UTIL_ROOT_FILE_H

#include <sys/stat.h>

/*
 * Opens below `root` with openat2, which takes it for "/": links and ".." cannot lead out of it. Always close-on-exec.
 * Returns the descriptor or a negative errno.
 */
int root_open(int root, const char *path, int flags);

/*
 * Opens a regular file for reading; -ENOENT or another negative errno otherwise. Nothing else is opened, since opening
 * a device can have effects. `flags`: O_NOFOLLOW or 0.
 */
int root_open_regular(int root, const char *path, int flags, struct stat *st);

/*
 * The same for a path of this process, such as a magic link of /proc, whatever its target's mount namespace. *st is
 * filled in also for what is there and no regular file.
 */
int regular_open(const char *path, struct stat *st);

#endif
