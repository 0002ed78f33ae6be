// SPDX-License-Identifier: Apache-2.0
/*
 * Decides which eBPF programs are loaded: at the start those that the event configuration needs, later those that a
 * changed configuration adds. Only kernel_side.c calls this.
 */
#ifndef BRAID_KERNEL_PROGRAMS_H
#define BRAID_KERNEL_PROGRAMS_H

#include "offcpu.h"
#include "config/options.h"

#include <bpf/libbpf.h>
#include <pthread.h>

struct braid_bpf;

#define PROGRAMS_LATER 5 /* for stacks, for each rank of off-CPU types, and for locks after `offcpu` alone */

struct programs {
	const struct record_options *options;
	struct braid_bpf *first; /* owned by kernel_side; has every map */
	struct braid_bpf *maps;	 /* has the same maps: `first`, or an object without programs until that is loaded */
	struct braid_bpf *later[PROGRAMS_LATER];
	int count;
	/* The object in use for each job; NULL: none yet. */
	struct braid_bpf *stack_request;
	struct braid_bpf *offcpu;
	struct braid_bpf *slots;	/* its maps have slots for events */
	struct braid_bpf *thread_times; /* its map has room for threads */
	struct braid_bpf *probes;	/* loaded on another thread, see programs_load_probes() */
	struct braid_bpf *dump;		/* NULL: `first` */
	uint32_t offcpu_types;		/* of OFFCPU_TYPES: what `offcpu` can report */
	bool offcpu_at_start;		/* it takes stacks when times begin */
	uint64_t offcpu_in_part;	/* stacks that ended early at their start, when last read */
	int offcpu_calm;		/* ticks since that changed or a thread had to walk when it came back */
	bool offcpu_before;		/* stacks of threads that were off the CPU when they were found are wanted */
	struct braid_offcpu_settings settings; /* of the kernel side, as last written */
	struct braid_offcpu_filter filter;
	pthread_t thread; /* loads the first `offcpu` */
	bool loading;
	int load_error; /* from that thread */
	bool started;
	struct bpf_link *links[OFFCPU_LINKS];
};

/* To be called before the first object is loaded. */
int programs_configure(struct programs *p, struct braid_bpf *first, const struct record_options *o,
		       const struct braid_offcpu_filter *filter);
/* To be called before it is loaded. Starts a thread that loads meanwhile what else is needed from the start. */
int programs_begin(struct programs *p);
int programs_wait(struct programs *p); /* waits for that thread; to be called before programs_start() */
int programs_start(struct programs *p);
void programs_stop(struct programs *p);
void programs_free(struct programs *p); /* leaves `first` */

/*
 * What is reported of a process's threads off the CPU by this event configuration. The caller writes it to the
 * process's entry. programs_follow() does so for all processes without an entry. programs_find_threads() then finds the
 * threads that exist already, during a recording.
 */
void programs_limits(struct programs *p, const struct braid_event_config *c, struct braid_offcpu_limits *l);
void programs_follow(struct programs *p, const struct braid_event_config *c);
void programs_find_threads(struct programs *p);
void programs_tick(struct programs *p); /* attaches and detaches what is needed at times only */
/*
 * Whether threads that have been off the CPU since they were found are all that a program is still needed for. If their
 * stacks are known, programs_before_known() says so; then their times are reported without a stack.
 */
bool programs_want_before(const struct programs *p);
void programs_before_known(struct programs *p);

/*
 * Loads what `types` need and is not loaded. The verifier blocks the caller for some tenths of a second, while rings
 * fill.
 */
int programs_load(struct programs *p, uint32_t types);

/*
 * Loads, once, the programs that probes in JVMs run, all in the object `probes`. A recording without JVMs never loads
 * it. Another thread may call it, as long as programs_load() does not run.
 */
int programs_load_probes(struct programs *p);

/*
 * Takes the sums of times off the CPU that were complete at the last call, at least a second ago; all of them after
 * programs_stop().
 */
void programs_take_sums(struct programs *p, offcpu_sum_fn fn, void *ctx);

/* Descriptors; negative: none. */
int programs_stack_request(const struct programs *p);
int programs_vthread_times(const struct programs *p);
/* See offcpu_forget_vthreads(). */
void programs_forget_vthreads(const struct programs *p, uint32_t slot);
/* See offcpu_each_thread(); nothing without followed threads. */
void programs_each_thread(const struct programs *p, offcpu_thread_fn fn, void *ctx);
/* See offcpu_each_asleep(). */
int programs_each_asleep(const struct programs *p, iterator_fn fn, void *ctx);
/* Calls back with a struct braid_dump_thread of every thread of the recorded processes. */
int programs_dump_threads(const struct programs *p, iterator_fn fn, void *ctx);

#endif
