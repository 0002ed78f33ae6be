// SPDX-License-Identifier: Apache-2.0
/* Block I/O requests whose completion was not seen. session.c calls this. */
#ifndef BRAID_RECORD_BLOCK_REQUESTS_H
#define BRAID_RECORD_BLOCK_REQUESTS_H

#include "session.h"

/* At the end, when no program runs any more: reports them as lost, each of the process that queued it. */
void block_requests_end(struct session *s);

#endif
