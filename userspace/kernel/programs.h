// SPDX-License-Identifier: Apache-2.0
/* Which of the eBPF programs are loaded: those that the choices at the start take, and later what else is chosen. */
#ifndef BRAID_KERNEL_PROGRAMS_H
#define BRAID_KERNEL_PROGRAMS_H

#include "offcpu.h"
#include "config/options.h"

#include <bpf/libbpf.h>

struct braid_bpf;

#define PROGRAMS_LATER 3 /* for stacks, for who ends sleeps, for sleeps: each once at most */

struct programs {
	const struct record_options *options;
	struct braid_bpf *first; /* kernel_side's: has every map */
	struct braid_bpf *later[PROGRAMS_LATER];
	int count;
	/* The one of them in force for each job; NULL: none so far. */
	struct braid_bpf *stack_request;
	struct braid_bpf *offcpu;
	struct braid_bpf *slots;    /* whose maps have slots for events */
	struct braid_bpf *sleepers; /* whose map has room for them */
	struct braid_bpf *probes;   /* of a thread of its own, see programs_load_probes() */
	uint32_t offcpu_types;	    /* of lock and wait: what `offcpu` can tell */
	bool started;
	struct bpf_link *links[OFFCPU_LINKS];
};

/* Before the first is loaded. */
int programs_configure(struct programs *p, struct braid_bpf *first, const struct record_options *o);
int programs_start(struct programs *p);
void programs_stop(struct programs *p);
void programs_free(struct programs *p); /* `first` stays */

/*
 * What `types` takes and is not there yet. The kernel checks programs when they are loaded: the caller is held up for
 * some tenths of a second, while rings fill.
 */
int programs_load(struct programs *p, uint32_t types);

/*
 * What probes in JVMs run, all in one object, `probes`: once. A recording that meets no JVM never loads it. Another
 * thread than the loop's may do it, while programs_load() is not called.
 */
int programs_load_probes(struct programs *p);

/* Descriptors: negative when there is none. */
int programs_stack_request(const struct programs *p);
int programs_sleepers(const struct programs *p);

#endif
