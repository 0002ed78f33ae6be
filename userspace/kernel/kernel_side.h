// SPDX-License-Identifier: Apache-2.0
/* The eBPF programs and maps, loaded; the perf events that drive them. */
#ifndef BRAID_KERNEL_KERNEL_SIDE_H
#define BRAID_KERNEL_KERNEL_SIDE_H

#include "config/options.h"

#include "unwind/table.h"

#include <braid/event.h>

struct kernel_side;
struct braid_bpf; /* the generated braid.skel.h */

/* Loads everything; explains failures itself. Sampling starts with kernel_side_start(). */
int kernel_side_open(struct kernel_side **out, const struct record_options *o);
int kernel_side_start(struct kernel_side *k, const struct record_options *o);
/* What ticks goes on, or pauses. -ENOENT: nothing has ticked since the start. */
int kernel_side_sample(struct kernel_side *k, bool on);
void kernel_side_stop(struct kernel_side *k); /* no samples after this */
void kernel_side_free(struct kernel_side *k);

/* How many mappings there is room for. */
uint64_t kernel_side_mapping_room(const struct kernel_side *k);
/* How many rows and pages of unwind tables there is room for in all. */
void kernel_side_table_room(const struct kernel_side *k, uint64_t *rows, uint64_t *pages);
/* Copies a table into the kernel: its number, or BRAID_NO_TABLE when there is no room left. */
uint32_t kernel_side_add_table(struct kernel_side *k, const struct unwind_table *t);

/* The rule at an address of the table's module, as the walk in the kernel finds it. */
uint32_t kernel_side_rule(const struct kernel_side *k, uint32_t table, uint64_t vaddr);

/* An extent of `mappings`: written once, then shown to the walker by kernel_side_set_process(). */
struct mapping_extent {
	uint32_t first;
	uint32_t count;
};
int kernel_side_add_mappings(struct kernel_side *k, const struct braid_mapping *m, uint32_t count,
			     struct mapping_extent *out);
/* The extent may be used again, though not before the next call of kernel_side_tick(): a walk may still be reading it.
 */
void kernel_side_drop_mappings(struct kernel_side *k, struct mapping_extent extent);
void kernel_side_tick(struct kernel_side *k);

int kernel_side_set_process(struct kernel_side *k, pid_t pid, const struct braid_process *p);
void kernel_side_remove_process(struct kernel_side *k, pid_t pid);

/* Neither reads events or drains a ring itself. */
typedef bool (*kernel_event_fn)(void *ctx, const struct braid_event *event); /* false: no more for now */
typedef void (*kernel_record_fn)(void *ctx, const struct braid_event *event);
/*
 * Calls back with events that wait, *budget bytes at most, and takes off what they took. A budget of
 * kernel_side_event_bytes() reads what waits, and not what comes as fast as it is read.
 */
void kernel_side_read_events(struct kernel_side *k, kernel_event_fn fn, void *ctx, size_t *budget);
size_t kernel_side_event_bytes(const struct kernel_side *k);
/* A descriptor to be watched for edges: there is one when much of the ring is full. */
int kernel_side_events(const struct kernel_side *k);

/* The frames of every stack are sent again when it is met next. */
void kernel_side_forget_stacks(struct kernel_side *k);

/* A slot of `jvms`, of which nothing is known yet: the slot, or a negative errno. */
int kernel_side_add_jvm(struct kernel_side *k, const struct braid_event_config *config, uint32_t *generation);
void kernel_side_remove_jvm(struct kernel_side *k, uint32_t slot);
/* What it has asked for; false: nothing is known of it. */
bool kernel_side_request_share(const struct kernel_side *k, uint32_t slot, struct braid_request_share *share);
/* Its stacks can be walked from now on. */
void kernel_side_layout(struct kernel_side *k, uint32_t slot, const struct braid_layout *l,
			const struct braid_statics *v);
/* The ring of its agent: 0, or a negative errno. */
int kernel_side_add_ring(struct kernel_side *k, uint32_t slot, int ring_fd);
/* Redefinition gives Methods of a JVM another meaning where nothing counts it: no stack with them is known any more. */
void kernel_side_redefined(struct kernel_side *k, uint32_t slot);
/* What of the slot's JVM the kernel side is to tell. */
void kernel_side_configure(struct kernel_side *k, uint32_t slot, const struct braid_event_config *config);
void kernel_side_remove_ring(struct kernel_side *k, uint32_t slot);
/*
 * Reads what is in one ring, total->budget bytes of it at most, and adds up what the kernel side refused or could not
 * pass on. total->more: there may be more.
 */
int kernel_side_drain(struct kernel_side *k, uint32_t slot, kernel_record_fn fn, void *ctx, struct braid_drain *total);

/* The program that agents run for stacks of theirs: its descriptor, -1 when nothing wants it. */
int kernel_side_stack_request(const struct kernel_side *k);
/* The map of threads off the CPU, or a negative errno when none are followed. */
int kernel_side_sleepers(const struct kernel_side *k);
/* While recording: the programs that these choices take, see programs_load(); explains failures itself. */
int kernel_side_load(struct kernel_side *k, uint32_t types);

/* The programs of probes, loaded when first asked for, by whatever thread: 0, or a negative errno. */
int kernel_side_load_probes(struct kernel_side *k, const struct braid_bpf **programs);
/* The map of JVMs whose probes count. */
int kernel_side_probed(const struct kernel_side *k);

void kernel_side_counters(struct kernel_side *k, struct braid_counters *sum);

#endif
