// SPDX-License-Identifier: Apache-2.0
/* What a recording is asked to record, and whether it can be. */
#ifndef BRAID_RECORD_TARGETS_H
#define BRAID_RECORD_TARGETS_H

#include "session.h"

/* Can these targets be recorded from here? Explains failures itself. Opens and changes nothing. */
int targets_check(const struct record_options *o);

/* Reads the processes that are named by their pids. Explains failures itself. */
int targets_add(struct processes *p, const struct record_options *o);

#endif
