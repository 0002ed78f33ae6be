// SPDX-License-Identifier: Apache-2.0
/* What drop.c and drop_sweep.c share; what others see of drops is in attach.h. */
#ifndef BRAID_ATTACH_DROP_H
#define BRAID_ATTACH_DROP_H

#include "attach.h"

#define DROP_PREFIX ".braid-"
#define DROP_NAME_LENGTH (sizeof(DROP_PREFIX) - 1 + 32)

/* Takes away what a drop consists of, but not the directory that is open at `dir`. */
void drop_empty(int dir);

/* Takes away the drops of that user in a directory that no recorder holds and no process names. */
void drop_sweep(int place, uid_t uid, gid_t gid);

#endif
