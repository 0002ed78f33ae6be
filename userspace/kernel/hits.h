// SPDX-License-Identifier: Apache-2.0
/*
 * Hit events: finds their tracepoints and places, attaches their programs, and reads what was counted. Probes in the
 * libjvm.so of JVMs are set by jvm/. What is asked of the options alone is for all; the rest is kernel_side.c's.
 */
#ifndef BRAID_KERNEL_HITS_H
#define BRAID_KERNEL_HITS_H

#include "config/options.h"
#include "util/vec.h"

#include <bpf/libbpf.h>

struct braid_bpf;

struct hits {
	const struct record_options *options;
	struct {
		int fd;			/* the tracepoint's perf event, or the file with the probe; -1: none */
		uint64_t offset;	/* of a function, in the file */
		struct probe_spec spec; /* completed by what it means here */
		struct braid_hit hit;
	} at[BRAID_HITS];
	VEC(struct bpf_link *) links;
	int map, counts; /* of the kernel side; borrowed */
};

/*
 * Finds what the recording's hit events mean, before anything is loaded. Returns 0, or a negative errno after
 * reporting the failure. hits_close() is to be called in any case.
 */
int hits_find(struct hits *h, const struct record_options *o);

/* Whether there are hit events of the type, or such whose places the recording's start does not know. */
bool hits_have(const struct record_options *o, enum probe_type type);
bool hits_in_files(const struct record_options *o);
/* The kernel event that is recorded, of which there is one at most; NULL: it is not. */
const struct probe_spec *hits_kernel_event(const struct record_options *o, enum braid_kernel_event event);
/* Whether any is a return with the time since its call. */
bool hits_time_returns(const struct record_options *o);

/*
 * Attaches the programs: of tracepoints in `first`, of other events in `probes`. Nothing is sampled before
 * hits_enable(). Returns 0, or a negative errno after reporting the failure.
 */
int hits_attach(struct hits *h, const struct braid_bpf *first, const struct braid_bpf *probes);
int hits_enable(struct hits *h, bool on);
void hits_detach(struct hits *h);
void hits_close(struct hits *h);

/* How often the event was hit, and how many of its samples are lost; sums of all CPUs. */
void hits_counts(const struct hits *h, uint32_t number, uint64_t *hits, uint64_t *lost);

#endif
