// SPDX-License-Identifier: Apache-2.0
/* What staging.c and staging_sweep.c share; what others see of staging is in attach.h. */
#ifndef BRAID_ATTACH_STAGING_H
#define BRAID_ATTACH_STAGING_H

#include "attach.h"

#define STAGING_PREFIX ".braid-"
#define STAGING_NAME_LENGTH (sizeof(STAGING_PREFIX) - 1 + 32)

/* Takes away what was staged, but not the directory that is open at `dir`. */
void staging_empty(int dir);

/* Takes away what was staged for that user in a directory that no recorder holds and no process names. */
void staging_sweep(int place, uid_t uid, gid_t gid);

#endif
