// SPDX-License-Identifier: Apache-2.0
/*
 * The eBPF programs and maps, and the perf events that drive them. This is the only way from the collector to the
 * kernel side. process/, jvm/, agents/ and record/ call it, on the collector's thread except where a function says
 * otherwise.
 */
#ifndef BRAID_KERNEL_KERNEL_SIDE_H
#define BRAID_KERNEL_KERNEL_SIDE_H

#include "config/options.h"

#include "unwind/table.h"

#include <braid/event.h>
#include <braid/offcpu_filter.h>

struct kernel_side;
struct braid_bpf; /* the generated braid.skel.h */

/*
 * Loads the programs and reports failures itself. A thread may still load some of them afterwards: kernel_side_wait()
 * waits for it. Sampling starts with kernel_side_start(), which comes after that.
 */
int kernel_side_open(struct kernel_side **out, const struct record_options *o);
int kernel_side_wait(struct kernel_side *k);
int kernel_side_start(struct kernel_side *k, const struct record_options *o);
/* Resumes or pauses sampling by the clock or, without one, by hit events. -ENOENT: neither was started. */
int kernel_side_sample(struct kernel_side *k, bool on);
void kernel_side_stop(struct kernel_side *k); /* no samples come after this */
void kernel_side_free(struct kernel_side *k);

/* The number of mappings that fit, and of unwind tables with all their rows and pages. */
struct kernel_room {
	uint64_t mappings, tables, rows, pages;
};
struct kernel_room kernel_side_room(const struct kernel_side *k);
/* Copies a table to the kernel side. Returns its number, or BRAID_NO_TABLE without room. */
uint32_t kernel_side_add_table(struct kernel_side *k, const struct unwind_table *t);

/* The rule at an address of the table's module, as a walk on the kernel side finds it. */
uint32_t kernel_side_rule(const struct kernel_side *k, uint32_t table, uint64_t vaddr);

/* An extent of `mappings`. It is written once, then kernel_side_set_process() makes walks use it. */
struct mapping_extent {
	uint32_t first;
	uint32_t count;
};
int kernel_side_add_mappings(struct kernel_side *k, const struct braid_mapping *m, uint32_t count,
			     struct mapping_extent *out);
/*
 * Frees an extent. It is reused after the next kernel_side_tick() at the earliest, since a walk may still be reading
 * it.
 */
void kernel_side_drop_mappings(struct kernel_side *k, struct mapping_extent extent);
void kernel_side_tick(struct kernel_side *k);

int kernel_side_set_process(struct kernel_side *k, pid_t pid, const struct braid_process *p);
void kernel_side_remove_process(struct kernel_side *k, pid_t pid);

/* Callbacks must neither read events nor drain a ring. */
typedef bool (*kernel_event_fn)(void *ctx, const struct braid_event *event); /* false: stop for now */
typedef void (*kernel_record_fn)(void *ctx, const struct braid_event *event);
/*
 * Calls back for waiting events of at most *budget bytes, and subtracts what was read. A budget of
 * kernel_side_event_bytes() reads what waits now, and not what arrives meanwhile.
 */
void kernel_side_read_events(struct kernel_side *k, kernel_event_fn fn, void *ctx, size_t *budget);
size_t kernel_side_event_bytes(const struct kernel_side *k);
/* A descriptor to watch for edges. It is signalled when an eighth of the ring is full. */
int kernel_side_events(const struct kernel_side *k);

/* What the kernel prints of its function at this address; *text is valid until the next call, and may be changed. */
int kernel_side_symbol(const struct kernel_side *k, uint64_t address, char **text);

/* Makes the kernel side send the frames of every stack again at its next hit. */
void kernel_side_forget_stacks(struct kernel_side *k);

/* Makes the kernel side send the ids of every span again at its next hit. */
void kernel_side_forget_spans(struct kernel_side *k);

/* Reserves an empty slot of `jvms`: the slot, or a negative errno. */
int kernel_side_add_jvm(struct kernel_side *k, const struct braid_event_config *config, uint32_t *generation);
void kernel_side_remove_jvm(struct kernel_side *k, uint32_t slot);
/* The stacks that the slot's JVM has requested; false: nothing is known. */
bool kernel_side_request_share(const struct kernel_side *k, uint32_t slot, struct braid_request_share *share);
/* A hit event, completed by what its fields mean on this machine. */
const struct probe_spec *kernel_side_hit(const struct kernel_side *k, uint32_t number);
/* Calls back with what each process without a slot has lost since the last call. */
typedef void (*kernel_lost_fn)(void *ctx, pid_t pid, const struct braid_lost *lost);
void kernel_side_lost(struct kernel_side *k, kernel_lost_fn fn, void *ctx);
/* Sets the JVM's layout, with which its stacks can be walked. */
void kernel_side_layout(struct kernel_side *k, uint32_t slot, const struct braid_layout *l,
			const struct braid_statics *v);
/* Adds the ring of its agent: 0, or a negative errno. */
int kernel_side_add_ring(struct kernel_side *k, uint32_t slot, int ring_fd);
/*
 * After class redefinition: a JVM's Methods may have another meaning, which no counter shows, so no known stack of it
 * is valid.
 */
void kernel_side_redefined(struct kernel_side *k, uint32_t slot);
/* Sets which events of the slot's JVM the kernel side reports. */
void kernel_side_configure(struct kernel_side *k, uint32_t slot, const struct braid_event_config *config);
/* Sets the same for all processes that are no JVMs. */
void kernel_side_follow(struct kernel_side *k, const struct braid_event_config *config);
void kernel_side_remove_ring(struct kernel_side *k, uint32_t slot);
/*
 * Reads at most total->budget bytes of one ring, and adds up what the kernel side refused or could not pass on.
 * total->more: there may be more.
 */
int kernel_side_drain(struct kernel_side *k, uint32_t slot, kernel_record_fn fn, void *ctx, struct braid_drain *total);

/* The descriptor of the program that agents run to request stacks; negative: none is loaded. */
int kernel_side_stack_request(const struct kernel_side *k);
/* When threads were no more followed on and off the CPU. */
uint64_t kernel_side_followed_until(const struct kernel_side *k);
/* Calls back with a copy of what is known of every followed thread. */
typedef void (*kernel_thread_fn)(void *ctx, struct braid_thread_time *t);
void kernel_side_each_thread(const struct kernel_side *k, kernel_thread_fn fn, void *ctx);
/* Takes sums of times off the CPU: see programs_take_sums(). */
typedef void (*kernel_sum_fn)(void *ctx, const struct braid_sum_key *key, const struct braid_sum *sum);
void kernel_side_take_sums(struct kernel_side *k, kernel_sum_fn fn, void *ctx);
/* By which times off the CPU are selected. */
const struct braid_offcpu_filter *kernel_side_offcpu_filter(const struct kernel_side *k);
/* The map of virtual threads that have not ended. */
int kernel_side_vthread_times(const struct kernel_side *k);
/* Removes those of the JVM in a slot from it; BRAID_MAX_JVMS: all. */
void kernel_side_forget_vthreads(const struct kernel_side *k, uint32_t slot);
/* Calls back with a struct braid_asleep_call of every followed thread that is off the CPU. */
int kernel_side_each_asleep(const struct kernel_side *k, void (*fn)(void *ctx, const void *thread), void *ctx);
/* See programs_want_before(). */
bool kernel_side_wants_before(const struct kernel_side *k);
void kernel_side_before_known(struct kernel_side *k);
/*
 * As kernel_side_each_asleep(), with a struct braid_dump_thread of every thread of the recorded processes, in a
 * recording with dumps.
 */
int kernel_side_dump_threads(const struct kernel_side *k, void (*fn)(void *ctx, const void *thread), void *ctx);
/*
 * Loads the programs that these event types need, during the recording, see programs_load(). It reports failures
 * itself.
 */
int kernel_side_load(struct kernel_side *k, uint32_t types);

/* Loads the programs of probes at the first call, on any thread: 0, or a negative errno. */
int kernel_side_load_probes(struct kernel_side *k, const struct braid_bpf **programs);

enum kernel_map {
	KERNEL_MAP_PROBED,	   /* JVMs whose probes report */
	KERNEL_MAP_NATIVE_BLOCKS,  /* that are allocated, of processes whose allocator reports its samples */
	KERNEL_MAP_NATIVE_COUNTS,  /* how many each of these processes has */
	KERNEL_MAP_BLOCK_REQUESTS, /* that have not completed */
};

/* The file of a map that is read by what it is about. It is the kernel side's. */
int kernel_side_map(const struct kernel_side *k, enum kernel_map map);

/* How often a hit event was hit, and how many of its samples are lost. */
void kernel_side_hits(const struct kernel_side *k, uint32_t number, uint64_t *hits, uint64_t *lost);

void kernel_side_counters(struct kernel_side *k, struct braid_counters *sum);

#endif
