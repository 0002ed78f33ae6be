// SPDX-License-Identifier: Apache-2.0
/* Which traces can be one, and what of two traces is the same. merge.c makes one of them. */
#ifndef BRAID_EDIT_MERGE_FIT_H
#define BRAID_EDIT_MERGE_FIT_H

#include "edit.h"

const char *merge_fact(const struct merge_input *in, const char *key);

/* The trace whose samples are those of the new one: the first of braid's own, or the first of all. */
size_t merge_base(const struct merge_input *in, size_t count);
/* The fact in which the samples of two traces differ, so that they do not count alike; NULL: none. */
const char *merge_differs(const struct merge_input *a, const struct merge_input *b);

/* The time of day when the clock of a trace began; 0: the trace has no clock record. */
int64_t merge_epoch_ns(const struct analyzer *a);
bool merge_same_boot(const struct merge_input *a, const struct merge_input *b);
/* A recording's first reading of the clock is in all its parts. */
bool merge_same_recording(const struct merge_input *a, const struct merge_input *b);
uint32_t merge_cpus(const struct merge_input *in);
/* Numbers of objects are valid in one recording only, so the processes that have them are not joined with another's. */
bool merge_has_objects(const struct merge_input *in);

#endif
