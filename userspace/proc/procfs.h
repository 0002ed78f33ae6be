// SPDX-License-Identifier: Apache-2.0
/* What the collector reads of /proc. Processes may end at any moment: that is -ESRCH, never an accident. */
#ifndef BRAID_PROC_PROCFS_H
#define BRAID_PROC_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What /proc/PID/maps or a PERF_RECORD_MMAP2 says of a mapping. */
struct mapping_fact {
	uint64_t start;
	uint64_t end;
	uint64_t file_offset;
	uint32_t major;
	uint32_t minor;
	uint64_t inode;
	const char *path;
};

/* Why this process's pids are not those that eBPF programs see, and what to do; NULL when they are. */
const char *procfs_pids_obstacle(void);

int procfs_comm(pid_t pid, pid_t tid, char *to, size_t size);
void procfs_exe(pid_t pid, char *to, size_t size); /* empty when it cannot be read */
uint64_t procfs_start_ns(pid_t pid);		   /* CLOCK_MONOTONIC; 0 when unknown */

/*
 * When a process was started, in a unit of the kernel's: with the number it tells a process from all others. 0: there
 * is none. A program that it executes, and one of its threads that does, leave it as it is.
 */
uint64_t procfs_start_ticks(pid_t pid);
/* Is it still there, with a thread that has not ended? */
bool procfs_lives(pid_t pid, uint64_t start_ticks);

/* Calls back with every thread. */
int procfs_threads(pid_t pid, void (*fn)(void *ctx, pid_t pid, pid_t tid), void *ctx);

/*
 * A thread of the process that has not ended, the first one unless that has: its memory, mappings and files are not to
 * be had by its number any more, but by any other thread's.
 */
pid_t procfs_living_thread(pid_t pid);

/* CPU time since the thread's start, and how much of it in the kernel, as the kernel's ticks count it. */
int procfs_cpu_ns(pid_t pid, pid_t tid, uint64_t *cpu_ns, uint64_t *kernel_ns);

/* Calls back with every executable mapping. */
int procfs_mappings(pid_t pid, void (*fn)(void *ctx, const struct mapping_fact *fact), void *ctx);

/* A thread's number in its innermost pid namespace, which is the same where there is none; 0: it has ended. */
pid_t procfs_ns_tid(pid_t pid, pid_t tid);

#endif
