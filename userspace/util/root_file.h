// SPDX-License-Identifier: Apache-2.0
/* Files below a directory that another process may have arranged: opened without following it elsewhere. */
#ifndef BRAID_UTIL_ROOT_FILE_H
#define BRAID_UTIL_ROOT_FILE_H

#include <sys/stat.h>

/*
 * openat2 below `root`, which is taken for "/": links and ".." cannot lead out of it. Always close-on-exec. Returns the
 * descriptor or a negative errno.
 */
int root_open(int root, const char *path, int flags);

/*
 * A regular file for reading, or a negative errno: -ENOENT when it is none. Nothing else is opened, since merely
 * opening a device can do something. `flags`: O_NOFOLLOW, or 0.
 */
int root_open_regular(int root, const char *path, int flags, struct stat *st);

/* The same of what a magic link of /proc leads to, whatever the mount namespace. */
int regular_open(const char *magic_link, struct stat *st);

#endif
