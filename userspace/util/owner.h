// SPDX-License-Identifier: Apache-2.0
/* Checks of files' owners against the user who records. */
#ifndef BRAID_UTIL_OWNER_H
#define BRAID_UTIL_OWNER_H

#include <stdbool.h>
#include <sys/stat.h>

/* The user who called this program through sudo; false without sudo. */
bool owner_sudo(uid_t *uid, gid_t *gid);

/* Whether root or the recording user owns the file. */
bool owner_known(const struct stat *st);
/* The same, and no one else can write to it. */
bool owner_trusted(const struct stat *st);

#endif
