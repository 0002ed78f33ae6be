// SPDX-License-Identifier: Apache-2.0
/*
 * The values that samples of hit events have. They come before their sample, among those of other CPUs. samples.c calls
 * this.
 */
#ifndef BRAID_RECORD_HIT_VALUES_H
#define BRAID_RECORD_HIT_VALUES_H

#include "config/probe_spec.h"

#define HIT_VALUES 256 /* that wait for their sample: more than there are programs at a time on 100 CPUs */
#define HIT_VALUES_TEXT 1024

struct hit_values {
	uint32_t next;
	struct braid_event_hit at[HIT_VALUES];
};

/* Keeps the values until their sample comes. `v` is allocated when it is first needed. */
void hit_values_keep(struct hit_values **v, const struct braid_event_hit *e);

/* The values of a thread's sample at this time; NULL: it has none. */
const struct braid_event_hit *hit_values_of(const struct hit_values *v, uint32_t tid, uint64_t time_ns);

/* As text, "fd=3 filename=\"/etc/passwd\"". Longer text ends with "...". */
void hit_values_text(const struct probe_spec *spec, const struct braid_event_hit *e, char to[HIT_VALUES_TEXT]);

#endif
