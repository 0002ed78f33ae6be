// SPDX-License-Identifier: Apache-2.0
/* The Java threads of a JVM whose agent does not report them: as the VM's own list has them. record/ calls this. */
#ifndef BRAID_JVM_JAVA_OUTSIDE_H
#define BRAID_JVM_JAVA_OUTSIDE_H

#include "jvms.h"

#include <braid/layout.h>

/*
 * Reads which threads of the process are Java threads, where their JavaThreads are and how they are called, and
 * *layout, with all that java_heap_open() finds of its objects. 0, or a negative error: nothing was changed.
 */
int java_outside_read(struct jvms *jvms, struct process *process, struct braid_layout *layout);

#endif
