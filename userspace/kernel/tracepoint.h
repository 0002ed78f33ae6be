// SPDX-License-Identifier: Apache-2.0
/* Opens kernel tracepoints by name, CATEGORY:NAME, as perf does. Only kernel_side.c calls this. */
#ifndef BRAID_KERNEL_TRACEPOINT_H
#define BRAID_KERNEL_TRACEPOINT_H

/*
 * Opens a perf event for the tracepoint. Its program runs for hits of all processes and CPUs. Returns the descriptor,
 * or a negative errno after reporting the failure.
 */
int tracepoint_open(const char *event);

#endif
