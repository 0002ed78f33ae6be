// SPDX-License-Identifier: Apache-2.0
/*
 * Names of code that programs make themselves, from what they say of it in /tmp/perf-PID.map: the file is opened when
 * the first such frame is met, since it cannot be found after the program's end, and read when the recording ends.
 */
#ifndef BRAID_PROCESS_PERF_MAPS_H
#define BRAID_PROCESS_PERF_MAPS_H

#include "processes.h"

struct perf_maps;

int perf_maps_new(struct perf_maps **out, struct sink *sink, struct modules *modules);
void perf_maps_free(struct perf_maps *p);

/* A native frame that was written without a name: its process and mapping decide whether there may be one. */
void perf_maps_request(struct perf_maps *p, struct process *process, const struct process_mapping *mapping,
		       const struct trace_frame *frame);

/* The process has ended: its frames are written again, with names where they have some. */
void perf_maps_forget(struct perf_maps *p, const struct process *process);

/* The same for all others. */
void perf_maps_name(struct perf_maps *p);

#endif
