// SPDX-License-Identifier: Apache-2.0
/*
 * Where a process's threads keep the request that they serve, see <braid/context.h>: in a variable of one of its
 * modules. What the dynamic linker made of it is read from the process's memory, which the process can write as it
 * likes: it then only misleads the kernel side about its own threads.
 */
#ifndef BRAID_PROCESS_CONTEXTS_H
#define BRAID_PROCESS_CONTEXTS_H

#include "processes.h"

/* A module that may have the variables was mapped. */
void context_wanted(struct process *process);
/* Looks for the variables, if that is due. Returns what is known now. */
struct braid_context_place context_look(struct process *process);

/* Looks again in all processes whose variables were not found: a module is relocated after it was mapped. */
void contexts_tick(struct processes *p);

#endif
