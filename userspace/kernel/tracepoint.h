// SPDX-License-Identifier: Apache-2.0
/* Opens kernel tracepoints by name, CATEGORY:NAME, as perf does. Only hits.c calls this. */
#ifndef BRAID_KERNEL_TRACEPOINT_H
#define BRAID_KERNEL_TRACEPOINT_H

#include "config/probe_spec.h"

/*
 * Opens a perf event for the tracepoint. Its program runs for hits of all processes and CPUs. `terms` receives those of
 * the spec, with the places of the record's fields. Returns the descriptor, or a negative errno after reporting the
 * failure.
 */
int tracepoint_open(const struct probe_spec *spec, struct braid_hit_term terms[BRAID_HIT_TERMS]);

#endif
