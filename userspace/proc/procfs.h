// SPDX-License-Identifier: Apache-2.0
/*
 * What the collector reads from /proc. A process may end at any moment: that is -ESRCH, and never an error to report.
 */
#ifndef BRAID_PROC_PROCFS_H
#define BRAID_PROC_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The content of a mapping in /proc/PID/maps or in a PERF_RECORD_MMAP2. */
struct mapping_fact {
	uint64_t start;
	uint64_t end;
	uint64_t file_offset;
	uint32_t major;
	uint32_t minor;
	uint64_t inode;
	const char *path;
};

/*
 * Explains why this process's pids differ from those that BPF programs see, and what to do; NULL when they are equal.
 */
const char *procfs_pids_obstacle(void);

int procfs_comm(pid_t pid, pid_t tid, char *to, size_t size);
void procfs_exe(pid_t pid, char *to, size_t size); /* empty when it cannot be read */
/*
 * Its control group: the path in the hierarchy of cgroup v2, else the longest one of v1. Empty when it cannot be read.
 */
void procfs_cgroup(pid_t pid, char *to, size_t size);
uint64_t procfs_start_ns(pid_t pid); /* CLOCK_MONOTONIC; 0 when unknown */

/*
 * A process's start time in the kernel's unit; with the pid it identifies the process. 0: no such process. exec does
 * not change it, even by another thread.
 */
uint64_t procfs_start_ticks(pid_t pid);
/* Whether the process still exists, with a thread that has not ended. */
bool procfs_lives(pid_t pid, uint64_t start_ticks);

/* Calls back with every thread. */
int procfs_threads(pid_t pid, void (*fn)(void *ctx, pid_t pid, pid_t tid), void *ctx);

/*
 * A thread of the process that has not ended: the first one if possible. Once the first thread has ended, memory,
 * mappings and files are accessible only through another thread's number.
 */
pid_t procfs_living_thread(pid_t pid);

/* CPU time since the thread's start, and its part in the kernel, in the resolution of the kernel's ticks. */
int procfs_cpu_ns(pid_t pid, pid_t tid, uint64_t *cpu_ns, uint64_t *kernel_ns);
/* Those in user mode and in the kernel of all threads that the process has and had. */
int procfs_process_cpu_ns(pid_t pid, uint64_t *user_ns, uint64_t *kernel_ns);

/* Whether the thread sleeps, or has stopped: it neither runs nor waits for a CPU. */
bool procfs_sleeps(pid_t pid, pid_t tid);

/* Where the stack of a thread that does not run ends: its stack pointer. -EBUSY: it runs. */
int procfs_stack_pointer(pid_t pid, pid_t tid, uint64_t *to);

/* Calls back with every executable mapping. */
int procfs_mappings(pid_t pid, void (*fn)(void *ctx, const struct mapping_fact *fact), void *ctx);
/* The same with every mapping whose path begins with one of `prefixes`, the last of which is NULL. */
int procfs_named_mappings(pid_t pid, const char *const *prefixes,
			  void (*fn)(void *ctx, const struct mapping_fact *fact), void *ctx);

/*
 * What /proc says of a thread, or what an open status file says, without its supplementary groups, of which there may
 * be 65,536: at most size - 1 bytes and a zero. Returns the length or a negative errno.
 */
ssize_t procfs_status(pid_t pid, pid_t tid, char *to, size_t size);
ssize_t procfs_status_text(int fd, char *to, size_t size);

/* A thread's tid in its innermost pid namespace, which equals `tid` without one; 0: it has ended. */
pid_t procfs_ns_tid(pid_t pid, pid_t tid);

#endif
