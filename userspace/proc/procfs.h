// SPDX-License-Identifier: Apache-2.0
/* What the collector reads of /proc. Processes may end at any moment: that is -ESRCH, never an accident. */
#ifndef BRAID_COLLECT_PROCFS_H
#define BRAID_COLLECT_PROCFS_H

#include "process/modules.h"

int procfs_comm(pid_t pid, pid_t tid, char *to, size_t size);
void procfs_exe(pid_t pid, char *to, size_t size); /* empty when it cannot be read */
uint64_t procfs_start_ns(pid_t pid);		   /* CLOCK_MONOTONIC; 0 when unknown */

/* Has the process a thread of this name? */
bool procfs_thread_named(pid_t pid, const char *name);

/* Calls back with every thread. */
int procfs_threads(pid_t pid, void (*fn)(void *ctx, pid_t pid, pid_t tid), void *ctx);

/* CPU time since the thread's start, and how much of it in the kernel, as the kernel's ticks count it. */
int procfs_cpu_ns(pid_t pid, pid_t tid, uint64_t *cpu_ns, uint64_t *kernel_ns);

/* Calls back with every executable mapping. */
int procfs_mappings(pid_t pid, void (*fn)(void *ctx, const struct mapping_fact *fact), void *ctx);

/* A thread's number in its innermost pid namespace, and back; the same number where there is no namespace. */
pid_t procfs_ns_tid(pid_t pid, pid_t tid);
pid_t procfs_host_tid(pid_t pid, pid_t ns_tid); /* 0 when there is no such thread */

#endif
