// SPDX-License-Identifier: Apache-2.0
/*
 * What the machine and control groups took from the recorded processes meanwhile: CPU time that a hypervisor gave to
 * others, pages that were swapped, and how long quotas kept threads from a CPU. Statistics of the trace have it. Each
 * second, CPU_LOAD events say how busy the machine and the JVMs were.
 */
#ifndef BRAID_RECORD_HOST_LOAD_H
#define BRAID_RECORD_HOST_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <proc/groups.h>

struct processes;
struct sink;

#define HOST_LOAD_PROCESSES 64 /* whose groups are looked at; further ones have no such statistics */

struct host_figures {
	uint64_t cpu_ns; /* that all CPUs had, idle or not */
	uint64_t user_ns, system_ns, steal_ns;
	uint64_t swapped_in, swapped_out; /* pages */
};

struct host_load {
	struct host_figures first, last;
	uint64_t last_ns; /* when `last` was read */
	bool is_known;
	size_t count;
	struct host_load_process {
		uint32_t process; /* the trace's id */
		struct group_throttling first;
		uint64_t user_ns, system_ns; /* at last_ns */
		bool has_times;
	} processes[HOST_LOAD_PROCESSES];
};

/* From now on. */
void host_load_begin(struct host_load *h);
/* Takes the first figures of JVMs that are new. */
void host_load_look(struct host_load *h, struct processes *processes);
/* Emits how busy machine and JVMs were since the last time, if that is long ago enough to be measured. */
void host_load_tick(struct host_load *h, struct sink *k, struct processes *processes);
/* Emits what has been taken so far. */
void host_load_emit(struct host_load *h, struct sink *k, struct processes *processes);

#endif
