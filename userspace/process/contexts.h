// SPDX-License-Identifier: Apache-2.0
/*
 * Where a process's threads keep the request that they serve, see <braid/context.h>: in a variable of one of its
 * modules. What the dynamic linker made of it is read from the process's memory, which the process can write as it
 * likes: it then only misleads the kernel side about its own threads.
 */
#ifndef BRAID_PROCESS_CONTEXTS_H
#define BRAID_PROCESS_CONTEXTS_H

#include "processes.h"

#include <braid/context.h>

/* A module that may have the variables was mapped. */
void context_wanted(struct process *process);
/* Looks for the variables, if that is due. Returns what is known now. */
struct braid_context_place context_look(struct process *process);

/* What a thread serves, with the first of its attributes. */
struct context_of_thread {
	struct braid_context_record record;
	uint8_t attributes[BRAID_CONTEXT_ATTRIBUTES];
	uint32_t attribute_bytes;
};

/* Reads it of a thread that does not run meanwhile and carries no virtual thread. False: there is none. */
bool context_read(const struct process *process, uint64_t thread_pointer, struct context_of_thread *to);

/* Looks again in all processes whose variables were not found: a module is relocated after it was mapped. */
void contexts_tick(struct processes *p);

#endif
