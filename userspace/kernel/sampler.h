/* SPDX-License-Identifier: Apache-2.0 */
/* The perf events that run sampling programs, one on each CPU. Only kernel_side.c and hits.c call this. */
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

/* Takes over the perf event of a CPU. For an error, which it has reported, the descriptor stays with the caller. */
typedef int (*sampler_take_fn)(void *ctx, int cpu, int fd);

/*
 * Opens the counter, or cpu-clock, on each CPU as a perf event that does not count yet. Returns 0, or the first error,
 * which is reported.
 */
int sampler_each_cpu(const char *counter, int frequency_hz, sampler_take_fn take, void *ctx);

/* Reports why a counter could not be opened or started. Returns `err`. */
int sampler_explain(int err, const char *counter, int frequency_hz, int cpu);

/* Returns 0, or a negative errno after reporting the failure. What was started stays until sampler_stop(). */
int sampler_start_clock(struct sampler *s, const struct bpf_program *program, const struct record_options *o);

/* Resumes or pauses sampling. -ENOENT: it was not started. */
int sampler_enable(const struct sampler *s, bool on);
void sampler_stop(struct sampler *s);

#endif
