/* SPDX-License-Identifier: Apache-2.0 */
/* What makes the sampling program run: a perf event on each CPU, or one tracepoint. kernel_side.c is the only user. */
#ifndef BRAID_KERNEL_SAMPLER_H
#define BRAID_KERNEL_SAMPLER_H

#include "config/options.h"

#include <bpf/libbpf.h>
#include <stdbool.h>

/* A zeroed one is stopped. */
struct sampler {
	int *fds; /* owned by the links */
	struct bpf_link **links;
	int count;
};

/* Both return 0 or a negative errno, which they have explained; what was started stays until sampler_stop(). */
int sampler_start_clock(struct sampler *s, const struct bpf_program *program, const struct record_options *o);
/* `fd` is a perf event of a tracepoint, the sampler's from here on if it succeeds. */
int sampler_start_tracepoint(struct sampler *s, const struct bpf_program *program, int fd);

/* Switches samples on or off without giving the events back. -ENOENT: it was not started. */
int sampler_enable(const struct sampler *s, bool on);
void sampler_stop(struct sampler *s);

#endif
