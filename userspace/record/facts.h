// SPDX-License-Identifier: Apache-2.0
/* What the trace says of the recording as a whole: where it was made, by which braid, and what was asked for. */
#ifndef BRAID_RECORD_FACTS_H
#define BRAID_RECORD_FACTS_H

#include "session.h"

void facts_emit(struct session *s);

/* What the kernel side has counted so far. */
void facts_counters(struct session *s, const struct braid_counters *c);

#endif
