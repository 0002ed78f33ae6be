// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* The maps that several files use, with their writers. Sizes marked "set at load" are minima. */
#ifndef BRAID_MAPS_BPF_H
#define BRAID_MAPS_BPF_H

#include "kernel.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#include <braid/event.h>
#include <braid/probe.h>

/* The recorded processes and the extents of their mappings. Written by the collector, on fork by the kernel side. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct braid_process);
} processes SEC(".maps");

/* Written by the collector through mmap; entries in use never change. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1 << 16); /* set at load */
	__type(key, __u32);
	__type(value, struct braid_mapping);
} mappings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct braid_table);
} tables SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1 << 18); /* set at load */
	__type(key, __u32);
	__type(value, struct braid_page);
} pages SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1 << 20); /* set at load */
	__type(key, __u32);
	__type(value, struct braid_unwind_row);
} rows SEC(".maps");

/* The collector assigns a slot, the drain fills it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BRAID_MAX_JVMS);
	__type(key, __u32);
	__type(value, struct braid_jvm);
} jvms SEC(".maps");

struct user_ring {
	__uint(type, BPF_MAP_TYPE_USER_RINGBUF);
	__uint(max_entries, 4096);
};

/* One ring per JVM, created by the collector and written by the JVM's agent. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, BRAID_MAX_JVMS);
	__type(key, __u32);
	__array(values, struct user_ring);
} rings SEC(".maps");

/* Samples, stacks and JVM events on their way to the collector. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 23); /* set at load */
} events SEC(".maps");

/* Set before loading: its size. */
const volatile __u32 events_bytes;

/* Flags for output to `events`: the collector reads at its ticks, and is woken when an eighth is full. */
static __always_inline __u64 events_wake(void)
{
	return bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) < events_bytes / 8 ? BPF_RB_NO_WAKEUP
										: BPF_RB_FORCE_WAKEUP;
}

/*
 * Forwarded agent records, separate from samples, so that a burst of one cannot displace the other. The drain stops
 * when this is full and continues when the collector has read it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct braid_counters);
} counters SEC(".maps");

/* JVMs with probes. Written by the collector. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BRAID_MAX_JVMS);
	__type(key, __u32);
	__type(value, struct braid_probed);
} probed SEC(".maps");

static __always_inline struct braid_probed *probed_here(void)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	return bpf_map_lookup_elem(&probed, &tgid);
}

/* Counters are per CPU, but a preempting program may come between a load and a store. */
#define COUNT(c, counter, n) ((void)__sync_fetch_and_add(&(c)->counter, n))

static __always_inline struct braid_counters *counters_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counters, &zero);
}

#endif
