// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the copies of the agent that earlier recordings have left in a JVM, dormant or serving another recorder. It
 * reads only the mappings of the process; listener.c calls it.
 */
#ifndef BRAID_AGENTS_COPIES_H
#define BRAID_AGENTS_COPIES_H

#include "process/processes.h"

/* More recorders than ever run at once. A process that maps more is no JVM that was recorded. */
#define COPIES_MAX 16U

/*
 * A name by which the JVM finds copy `number` of the agent, counted from 0, for a JVM TI load. False: there is no such
 * copy. Only the copy knows whether it is busy; a busy one does not connect.
 */
bool copies_name(const struct process *p, uint32_t number, char *to, size_t size);

#endif
