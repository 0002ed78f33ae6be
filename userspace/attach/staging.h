// SPDX-License-Identifier: Apache-2.0
/* What staging.c and staging_sweep.c share. Other rooms use attach.h. */
#ifndef BRAID_ATTACH_STAGING_H
#define BRAID_ATTACH_STAGING_H

#include "attach.h"
#include "util/random.h"

#define STAGING_PREFIX ".braid-"
#define STAGING_SHARED 0711 /* mode of the directory for a command of root's, whose JVMs may run as other users */
#define STAGING_NAME_LENGTH (sizeof(STAGING_PREFIX) - 1 + RANDOM_DIGITS)

/* Removes the staged files, but not the directory, which is open at `dir`. */
void staging_empty(int dir);

/*
 * Removes directories in `place` that were staged for that user, that no recorder holds and that no process's
 * environment or command line mentions.
 */
void staging_sweep(int place, uid_t uid, gid_t gid);

/*
 * Whether the environment or command line of a process mentions this directory of the caller's user. The caller keeps
 * it locked: a sweep by another recorder would otherwise hold it, and decide later. True when that is unknown.
 */
bool staging_is_named(const struct staging *d);

#endif
