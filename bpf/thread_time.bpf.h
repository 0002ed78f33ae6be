// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The threads that are followed on and off the CPU: which ones, their entries, and their sums. offcpu.bpf.h and its
 * neighbours use it.
 */
#ifndef BRAID_THREAD_TIME_BPF_H
#define BRAID_THREAD_TIME_BPF_H

#include "jvm_event.bpf.h"

#define NEVER (~0ULL)

/* All entries are allocated at load, because nothing can be allocated while the scheduler holds its locks. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set at load */
	__type(key, __u32);
	__type(value, struct braid_thread_time);
} thread_times SEC(".maps");

/* Written by the collector. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct braid_offcpu_settings);
} offcpu_settings SEC(".maps");

/* Shared by all programs, also by those of later objects. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct braid_offcpu_counts);
} offcpu_counts SEC(".maps");

static const struct braid_thread_time thread_time_new;

static __always_inline struct braid_offcpu_settings *settings_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&offcpu_settings, &zero);
}

static __always_inline struct braid_offcpu_counts *counts_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&offcpu_counts, &zero);
}

/* What is reported of a process; NULL: it is not recorded. */
static __always_inline const struct braid_offcpu_limits *limits_of(const struct braid_process *p)
{
	__u32 slot = p && p->jvm ? p->jvm - 1 : BRAID_MAX_JVMS;
	struct braid_jvm *jvm = bpf_map_lookup_elem(&jvms, &slot);
	struct braid_offcpu_settings *settings = settings_get();

	if (jvm)
		return &jvm->offcpu;
	return settings && (p || system_wide) ? &settings->limits : NULL;
}

static __always_inline const struct braid_offcpu_limits *limits_of_pid(__u32 pid)
{
	return limits_of(bpf_map_lookup_elem(&processes, &pid));
}

/* ---- entries ---- */

/* One process may have at most as many entries as are free for others. */
static __noinline bool thread_time_room(__u32 slot)
{
	struct braid_request_share *own = bpf_map_lookup_elem(&request_shares, &slot);
	struct braid_offcpu_counts *all = counts_get();

	return own && all && own->threads < BRAID_THREAD_TIMES - all->threads;
}

static __noinline int thread_time_add(__u32 slot, __s64 n)
{
	struct braid_request_share *own = bpf_map_lookup_elem(&request_shares, &slot);
	struct braid_offcpu_counts *all = counts_get();

	if (own && all) {
		__sync_fetch_and_add(&own->threads, n);
		__sync_fetch_and_add(&all->threads, n);
	}
	return 0;
}

/* A new entry, or the one that another CPU has just made; NULL when there is no room. */
static __always_inline struct braid_thread_time *thread_time_create(const struct braid_process *p, __u32 tgid,
								    __u32 tid)
{
	__u32 slot = p && p->jvm ? p->jvm - 1 : BRAID_MAX_JVMS;
	struct braid_thread_time *t;
	long failed = -1;

	if (thread_time_room(slot))
		failed = bpf_map_update_elem(&thread_times, &tid, &thread_time_new, BPF_NOEXIST);
	t = bpf_map_lookup_elem(&thread_times, &tid);
	if (!t) {
		jvm_event_lost(tgid, BRAID_JVM_OFFCPU);
		return NULL;
	}
	if (!failed) {
		t->pid = tgid;
		t->slot = slot;
		thread_time_add(slot, 1);
	}
	return t;
}

/* ---- sums ---- */

/* The thread stops running. */
static __always_inline void thread_time_ran(struct braid_thread_time *t, __u64 now)
{
	if (t->on_ns && t->on_ns < now)
		t->run_ns += now - t->on_ns;
	t->on_ns = 0;
}

/* Nobody was seen to wake it: somebody did just before it left the CPU, and it could run all the time. */
static __always_inline __u64 interval_ready(const struct braid_interval *i)
{
	__u64 since = i->ready_ns > i->start_ns ? i->ready_ns : i->start_ns;

	return i->end_ns > since ? i->end_ns - since : 0;
}

/* Counts an interval that is not emitted. */
static __noinline int interval_count(struct braid_thread_time *t, const struct braid_interval *i)
{
	__u64 ready, ns;
	__u32 class;

	if (!t || !i)
		return 0;
	class = BRAID_OFFCPU_CLASS(i->flags);
	ready = t->since_ns && class != BRAID_OFFCPU_RUNNABLE ? interval_ready(i) : 0;
	ns = i->end_ns - i->start_ns - ready;
	if (class >= BRAID_OFFCPU_CLASSES)
		return 0;
	t->counted[class]++;
	t->counted_ns[class] += ns;
	t->counted_ns[BRAID_OFFCPU_RUNNABLE] += ready;
	return 0;
}

#endif
