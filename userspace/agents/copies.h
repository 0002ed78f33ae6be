// SPDX-License-Identifier: Apache-2.0
/* Copies of the agent that earlier recordings have left in a JVM, dormant or at work for another recorder. */
#ifndef BRAID_AGENTS_COPIES_H
#define BRAID_AGENTS_COPIES_H

#include "process/processes.h"

/* More than recorders ever run at once: what maps more is no JVM that was recorded. */
#define COPIES_MAX 16U

/*
 * A name by which the JVM finds one of them for a JVM TI load: the first name is for number 0. False: there is no
 * such. Only the copy itself knows whether it is at work: one that is does not connect when it is asked to.
 */
bool copies_name(const struct process *p, uint32_t number, char *to, size_t size);

#endif
