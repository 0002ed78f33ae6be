// SPDX-License-Identifier: Apache-2.0
/* Opens kernel tracepoints by name, CATEGORY:NAME, as perf does. Only hits.c calls this. */
#ifndef BRAID_KERNEL_TRACEPOINT_H
#define BRAID_KERNEL_TRACEPOINT_H

#include "config/probe_spec.h"

/*
 * Opens a perf event for the tracepoint. Its program runs for hits of all processes and CPUs. The spec's terms and
 * fields receive their places in the record; without braces, the fields are all. Returns the descriptor, or a negative
 * errno after reporting the failure.
 */
int tracepoint_open(struct probe_spec *spec);

#endif
