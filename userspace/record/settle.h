// SPDX-License-Identifier: Apache-2.0
/* The time before a recording begins, in which agents connect and probes are set. session.c calls this. */
#ifndef BRAID_RECORD_SETTLE_H
#define BRAID_RECORD_SETTLE_H

#include "session.h"

/* Nothing that the recorded events need is still to come. */
bool settle_is_done(const struct session *s);
/* Waits for it, but not for long. Returns 0 or a negative errno. */
int settle(struct session *s);

#endif
