// SPDX-License-Identifier: Apache-2.0
/* Who a file is of, and who records. */
#ifndef BRAID_UTIL_OWNER_H
#define BRAID_UTIL_OWNER_H

#include <stdbool.h>
#include <sys/stat.h>

/* The user who has called this program through sudo: false when it runs otherwise. */
bool owner_sudo(uid_t *uid, gid_t *gid);

/* Is it of root, or of the user who records? */
bool owner_known(const struct stat *st);
/* And can nobody else write it? */
bool owner_trusted(const struct stat *st);

#endif
