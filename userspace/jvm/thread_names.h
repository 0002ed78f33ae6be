// SPDX-License-Identifier: Apache-2.0
/*
 * Whole names of threads whose names the kernel has cut. The agent reports those of the Java threads that JVM TI shows;
 * compilers and other threads of the VM, and all threads of a JVM without an agent, are read from the VM's memory.
 * layouts.c calls this.
 */
#ifndef BRAID_JVM_THREAD_NAMES_H
#define BRAID_JVM_THREAD_NAMES_H

#include "jvms.h"

/* Looks for them in the JVMs in which there may be new ones. `final`: the recording has ended. */
void thread_names_tick(struct jvms *jvms, bool final);

#endif
