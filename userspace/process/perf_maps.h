// SPDX-License-Identifier: Apache-2.0
/*
 * Names code that programs generate, from the /tmp/perf-PID.map that they write. The file is opened at the first such
 * frame, as it cannot be found after the program's end, and read when the program or the recording ends. record/ calls
 * it.
 */
#ifndef BRAID_PROCESS_PERF_MAPS_H
#define BRAID_PROCESS_PERF_MAPS_H

#include "processes.h"

struct perf_maps;

int perf_maps_new(struct perf_maps **out, struct sink *sink, struct modules *modules);
void perf_maps_free(struct perf_maps *p);

/*
 * Requests a name for a native frame that was written without one. Process and mapping decide whether it can have one.
 */
void perf_maps_request(struct perf_maps *p, struct process *process, const struct process_mapping *mapping,
		       const struct trace_frame *frame);

/* The process has ended: writes the frames that have names again. */
void perf_maps_forget(struct perf_maps *p, const struct process *process);

/* The same for all other processes. */
void perf_maps_name(struct perf_maps *p);

#endif
