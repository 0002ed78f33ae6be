// SPDX-License-Identifier: Apache-2.0
/* Files that this program makes for its user. What they hold of production programs is for their owner only. */
#ifndef BRAID_UTIL_NEW_FILE_H
#define BRAID_UTIL_NEW_FILE_H

/*
 * Makes a file that does not exist yet, for reading and writing. Under sudo it belongs to the caller, if that user
 * could have made it: otherwise the user would own a new file in a system directory. Returns its descriptor or a
 * negative errno.
 */
int new_file_at(int dir, const char *name);

/* The same, in the directory that the path names. */
int new_file(const char *path);

#endif
