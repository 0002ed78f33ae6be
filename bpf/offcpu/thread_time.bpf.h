// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The threads that are followed on and off the CPU: which ones, their entries, and their sums. offcpu.bpf.h and its
 * neighbours use it.
 */
#ifndef BRAID_THREAD_TIME_BPF_H
#define BRAID_THREAD_TIME_BPF_H

#include "jvm/jvm_event.bpf.h"

#include <braid/interval.h>

#define NEVER (~0ULL)

/*
 * The later one of two times. Comparing their difference teaches the verifier nothing about either, so it has one case
 * to follow.
 */
static __always_inline __u64 later(__u64 a, __u64 b)
{
	__u64 ahead = a - b;

	return b + ((__s64)ahead > 0 ? ahead : 0);
}

/* All entries are made at load, because nothing can be allocated while the scheduler holds its locks. The first one is
 * not used. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set at load */
	__type(key, __u32);
	__type(value, struct braid_thread_time);
} thread_times SEC(".maps");

/*
 * Which of them a thread has, by tid, with four numbers in a word; 0: none. This is looked up at each switch and each
 * wake-up of the machine, and a hash map takes several times as long.
 */
#define PLACES 4
#define PLACE_BITS 16
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set at load */
	__type(key, __u32);
	__type(value, __u64);
} thread_places SEC(".maps");

/* Entries that are free again; others have never been used. */
struct {
	__uint(type, BPF_MAP_TYPE_STACK);
	__uint(max_entries, BRAID_THREAD_TIMES);
	__type(value, __u32);
} thread_spares SEC(".maps");

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

static __always_inline struct braid_offcpu_settings *settings_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&offcpu_settings, &zero);
}

static __always_inline bool settings_ended(__u64 now)
{
	const struct braid_offcpu_settings *settings = settings_get();

	return !settings || now > settings->end_ns;
}

static __always_inline struct braid_offcpu_counts *counts_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&offcpu_counts, &zero);
}

static __always_inline void offcpu_before(__s64 n)
{
	struct braid_offcpu_counts *c = counts_get();

	if (c)
		__sync_fetch_and_add(&c->before, n);
}

/* What is reported of a process; NULL: it is not recorded. */
static __always_inline const struct braid_offcpu_limits *limits_of(const struct braid_process *p)
{
	__u32 slot = process_slot(p);
	struct braid_jvm *jvm = bpf_map_lookup_elem(&jvms, &slot);
	struct braid_offcpu_settings *settings = settings_get();

	if (jvm)
		return &jvm->offcpu;
	return settings && (p || system_wide) ? &settings->limits : NULL;
}

static __always_inline bool limits_follow(const struct braid_offcpu_limits *l)
{
	return l && (l->min_ns != NEVER || l->waker_min_ns != NEVER);
}

static __always_inline const struct braid_offcpu_limits *limits_of_pid(__u32 pid)
{
	return limits_of(bpf_map_lookup_elem(&processes, &pid));
}

/* ---- entries ---- */

static __always_inline __u32 place_shift(__u32 tid)
{
	return tid % PLACES * PLACE_BITS;
}

static __always_inline __u32 thread_place(__u32 tid)
{
	__u32 word = tid / PLACES;
	__u64 *places = bpf_map_lookup_elem(&thread_places, &word);

	return places ? *places >> place_shift(tid) & (BRAID_THREAD_TIMES - 1) : 0;
}

static __always_inline struct braid_thread_time *thread_time_at(__u32 place)
{
	return place ? bpf_map_lookup_elem(&thread_times, &place) : NULL;
}

static __always_inline struct braid_thread_time *thread_time_of(__u32 tid)
{
	return thread_time_at(thread_place(tid));
}

/*
 * Changes the thread's place; false: it is not `from`. Neighbours may change theirs. A global function: the verifier
 * checks it once.
 */
__noinline bool thread_place_set(__u32 tid, __u32 from, __u32 to)
{
	__u32 word = tid / PLACES, shift = place_shift(tid);
	__u64 *places = bpf_map_lookup_elem(&thread_places, &word), old, new;

	for (int i = 0; places && i < 16; i++) {
		old = *places;
		if ((old >> shift & (BRAID_THREAD_TIMES - 1)) != from)
			return false;
		new = old ^ (__u64)(from ^ to) << shift;
		if (__sync_val_compare_and_swap(places, old, new) == old)
			return true;
	}
	return false;
}

/* Sums of what is added and subtracted on several CPUs can be less than nothing for a moment. */
static __always_inline __u64 entries_used(__s64 count)
{
	return count > 0 ? count : 0;
}

/* Whether a process may have one more of `size` entries; `own`: its entries, and so on. */
static __always_inline bool entries_left(__u64 size, __s64 all, __s64 user, __s64 own)
{
	__u64 used = entries_used(all);

	return used < size &&
	       braid_share_has(size - 1 - used, BRAID_USER_PER_FREE, entries_used(user), entries_used(own), 1);
}

/* Processes without a slot have no share but their user's. */
static __always_inline bool thread_place_left(const struct braid_request_share *own,
					      const struct braid_user_share *user, __u32 slot,
					      const struct braid_offcpu_counts *all)
{
	return entries_left(BRAID_THREAD_TIMES, all->threads, user->threads, slot < BRAID_MAX_JVMS ? own->threads : 0);
}

static __noinline __u32 thread_place_take(__u32 slot, __u32 user)
{
	struct braid_request_share *own = bpf_map_lookup_elem(&request_shares, &slot);
	struct braid_user_share *users = user_share(user);
	struct braid_offcpu_counts *all = counts_get();
	__u32 place = 0;

	if (!own || !users || !all || !thread_place_left(own, users, slot, all))
		return 0;
	if (bpf_map_pop_elem(&thread_spares, &place))
		place = all->used < BRAID_THREAD_TIMES - 1 ? __sync_fetch_and_add(&all->used, 1) + 1 : 0;
	if (!place || place >= BRAID_THREAD_TIMES)
		return 0;
	__sync_fetch_and_add(&own->threads, 1);
	__sync_fetch_and_add(&users->threads, 1);
	__sync_fetch_and_add(&all->threads, 1);
	return place;
}

static __noinline int thread_place_give(__u32 slot, __u32 user, __u32 place)
{
	struct braid_request_share *own = bpf_map_lookup_elem(&request_shares, &slot);
	struct braid_user_share *users = user_share(user);
	struct braid_offcpu_counts *all = counts_get();

	if (own && users && all) {
		__sync_fetch_and_add(&own->threads, -1);
		__sync_fetch_and_add(&users->threads, -1);
		__sync_fetch_and_add(&all->threads, -1);
	}
	bpf_map_push_elem(&thread_spares, &place, 0);
	return 0;
}

/* An entry that its thread does not have before thread_time_publish(); NULL when there is no room. */
static __always_inline struct braid_thread_time *thread_time_new(__u32 slot, __u32 user, __u32 tgid, __u32 tid,
								 __u32 *place)
{
	struct braid_thread_time *t;

	*place = thread_place_take(slot, user);
	t = thread_time_at(*place);
	if (!t) {
		jvm_event_lost(tgid, BRAID_JVM_OFFCPU);
		return NULL;
	}
	*t = (struct braid_thread_time){0};
	t->pid = tgid;
	t->tid = tid;
	t->slot = slot;
	t->user = user;
	return t;
}

/* The thread's entry is `t`, or the one that it has meanwhile. */
static __always_inline struct braid_thread_time *thread_time_publish(struct braid_thread_time *t, __u32 place)
{
	__u32 tid = t->tid;

	if (thread_place_set(tid, 0, place))
		return t;
	t->tid = 0;
	thread_place_give(t->slot, t->user, place);
	return thread_time_of(tid);
}

static __always_inline void thread_time_remove(struct braid_thread_time *t)
{
	__u32 tid = t->tid, place = thread_place(tid);

	if (!thread_place_set(tid, place, 0))
		return;
	t->tid = 0;
	thread_place_give(t->slot, t->user, place);
}

/* ---- sums ---- */

/* What was found where the thread left the CPU last does not hold any more: see steady.bpf.h. */
static __always_inline void steady_forget(struct braid_thread_time *t)
{
	t->steady.until_ns = 0;
}

static __always_inline __u64 interval_ns(const struct braid_interval *i)
{
	return i->end_ns - i->start_ns;
}

/* The thread stops running. */
static __always_inline void thread_time_ran(struct braid_thread_time *t, __u64 now)
{
	if (t->on_ns && t->on_ns < now)
		t->run_ns += now - t->on_ns;
	t->on_ns = 0;
}

/*
 * The interval of a thread that was not seen to be woken. A wake-up just before the thread was seen to leave the CPU is
 * its end: the thread could run all the time. Otherwise the wake-up was missed, as programs do not run everywhere, and
 * the thread is taken to have waited until it ran.
 */
#define EARLY_NS 1000000

static __always_inline void interval_unwoken(struct braid_thread_time *t)
{
	bool early = t->early_ns && t->now.start_ns < t->early_ns + EARLY_NS;

	t->now.ready_ns = early ? t->now.start_ns : t->now.end_ns;
}

/*
 * No end of a system call follows: a page fault, a preemption in the program's own code, and what happens on the way
 * from a system call back to it, which is after its end.
 */
static __always_inline bool interval_without_end(__u32 flags)
{
	__u32 class = BRAID_OFFCPU_CLASS(flags);

	return (flags & BRAID_OFFCPU_SYSCALL) == BRAID_OFFCPU_SYSCALL || class == BRAID_OFFCPU_RUNNABLE ||
	       class == BRAID_OFFCPU_STOPPED;
}

/* Counts an interval that is not emitted. A global function: the verifier checks it once, and not at each call. */
__noinline int interval_count(struct braid_thread_time *t, const struct braid_interval *i)
{
	if (t && i)
		braid_interval_count(t, i);
	return 0;
}

#endif
