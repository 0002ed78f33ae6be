/* SPDX-License-Identifier: Apache-2.0 */
/* The perf events that run the sampling program, one on each CPU. Only kernel_side.c calls this. */
#ifndef BRAID_KERNEL_SAMPLER_H
#define BRAID_KERNEL_SAMPLER_H

#include "config/options.h"

#include <bpf/libbpf.h>
#include <stdbool.h>

/* Stopped when zeroed. */
struct sampler {
	int *fds; /* owned by the links */
	struct bpf_link **links;
	int count;
};

/* Returns 0, or a negative errno after reporting the failure. What was started stays until sampler_stop(). */
int sampler_start_clock(struct sampler *s, const struct bpf_program *program, const struct record_options *o);

/* Resumes or pauses sampling. -ENOENT: it was not started. */
int sampler_enable(const struct sampler *s, bool on);
void sampler_stop(struct sampler *s);

#endif
