// SPDX-License-Identifier: Apache-2.0
/*
 * Loads and attaches the programs that follow threads on and off the CPU (bpf/offcpu/offcpu.bpf.h,
 * bpf/offcpu/thread_life.bpf.h, bpf/offcpu/wakers.bpf.h), and says what they report. kernel_side.c and programs.c call
 * this.
 */
#ifndef BRAID_KERNEL_OFFCPU_H
#define BRAID_KERNEL_OFFCPU_H

#include "iterator.h"

#include <braid/event_config.h>
#include <braid/event.h>
#include <braid/offcpu_filter.h>

#include <stdbool.h>
#include <stdint.h>

struct braid_bpf;
struct bpf_link;
struct bpf_map;

/* The event types whose programs follow threads. */
#define OFFCPU_TYPES (BRAID_EVENT_TYPE(LOCK) | BRAID_EVENT_TYPE(WAIT) | BRAID_EVENT_TYPE(OFFCPU))
#define OFFCPU_LINKS 13

/*
 * Whether every time off the CPU is reported that the filter selects by its reason and its thread. Then its stack is
 * taken when it begins. Locks need the stack at the end, when their owner is read.
 */
bool offcpu_stacks_at_start(const struct braid_event_config *c, const struct braid_offcpu_filter *filter);
/*
 * Before loading: selects the programs and the sizes of their maps. offcpu_limits() decides what they report of a
 * process.
 */
int offcpu_configure(struct braid_bpf *b, const struct braid_event_config *c, const struct braid_offcpu_filter *filter);
int offcpu_size(const struct braid_bpf *b, bool follows); /* only the maps */
int offcpu_attach(struct braid_bpf *b, struct bpf_link *links[OFFCPU_LINKS]);
void offcpu_detach(struct bpf_link *links[OFFCPU_LINKS]);
/*
 * With offcpu_stacks_at_start(), the programs that run when a thread comes back are needed only for those that were off
 * the CPU when they were found, and for those of new processes.
 */
int offcpu_attach_ends(struct braid_bpf *b, struct bpf_link *links[OFFCPU_LINKS]);
void offcpu_detach_ends(struct bpf_link *links[OFFCPU_LINKS]);
int offcpu_counts_read(const struct braid_bpf *b, struct braid_offcpu_counts *c);
/* Finds the threads that exist already. To be called when the programs are attached, and the limits set. */
int offcpu_find_threads(struct braid_bpf *b);
/* Calls back with a struct braid_asleep_call of every followed thread that is off the CPU. */
int offcpu_each_asleep(struct braid_bpf *b, iterator_fn fn, void *ctx);

/* Calls back with the entry of every followed thread, which it may change: it is a copy. */
typedef void (*offcpu_thread_fn)(void *ctx, struct braid_thread_time *t);
void offcpu_each_thread(const struct braid_bpf *b, offcpu_thread_fn fn, void *ctx);

/* Removes the entries of virtual threads of the JVM in a slot; BRAID_MAX_JVMS: of all. */
void offcpu_forget_vthreads(const struct bpf_map *times, const struct bpf_map *counts, uint32_t slot);

/* Sets what is reported of a process by an event configuration. */
void offcpu_limits(struct braid_offcpu_limits *l, const struct braid_event_config *c);
/* Lets the settings reach down to the limits of a process. */
void offcpu_settings_reach(struct braid_offcpu_settings *s, const struct braid_offcpu_limits *l);
int offcpu_filter_write(const struct braid_bpf *b, const struct braid_offcpu_filter *f);
int offcpu_settings_write(const struct braid_bpf *b, const struct braid_offcpu_settings *s);

/* Takes the sums of a turn out of their map. It must be over, or the programs detached. */
typedef void (*offcpu_sum_fn)(void *ctx, const struct braid_sum_key *key, const struct braid_sum *sum);
void offcpu_each_sum(const struct braid_bpf *b, uint32_t turn, offcpu_sum_fn fn, void *ctx);

#endif
