// SPDX-License-Identifier: Apache-2.0
/*
 * Layouts of JVMs, read out of their memory as soon as their libraries are initialised: no stack waits for an agent,
 * and JVMs that never get one have Java frames, too.
 */
#ifndef BRAID_JVM_LAYOUTS_H
#define BRAID_JVM_LAYOUTS_H

#include "jvms.h"
#include "process/processes.h"

/* Reads that of a process which may be ready, if it is still wanted. */
void layouts_find(struct jvms *jvms, struct process *process);

/* The same of all processes: true when one may be ready soon. */
bool layouts_find_all(struct jvms *jvms);

/* Follows what is still growing in JVMs whose agents do not say so, and names their frames. `final`: for the last time.
 */
void layouts_tick(struct jvms *jvms, bool final);

#endif
