// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the layouts of JVMs from their memory as soon as their libraries are initialised. Stacks then do not wait for
 * an agent, and JVMs without one have Java frames, too. record/ and agents/ call this.
 */
#ifndef BRAID_JVM_LAYOUTS_H
#define BRAID_JVM_LAYOUTS_H

#include "jvms.h"
#include "process/processes.h"

/* Reads the layout of a process that may be ready, if it is still missing. */
void layouts_find(struct jvms *jvms, struct process *process);

/* The same for all processes. True when one may be ready soon. */
bool layouts_find_all(struct jvms *jvms);

/*
 * Reads again what still grows in JVMs without an agent, and resolves their frames. Also looks for whole names of
 * threads in all JVMs. `final`: the last call.
 */
void layouts_tick(struct jvms *jvms, bool final);

#endif
