// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The virtual threads that are followed on and off their carriers: their entries and their sums. mounts.bpf.h and
 * thread_life.bpf.h use it.
 */
#ifndef BRAID_VTHREAD_TIME_BPF_H
#define BRAID_VTHREAD_TIME_BPF_H

#include "thread_time.bpf.h"

#include <braid/vthread_time.h>

/* Entries take memory only while they exist. Each is used by the thread that carries it, or about to. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1); /* set at load */
	__type(key, struct braid_vthread_key);
	__type(value, struct braid_vthread_time);
} vthread_times SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, BRAID_VTHREAD_COUNTS);
	__type(key, __u32);
	__type(value, struct braid_vthread_count);
} vthread_counts SEC(".maps");

static const struct braid_vthread_time vthread_time_none;

/* ---- entries ---- */

static __always_inline struct braid_vthread_count *vthread_count_of_jvm(__u32 slot)
{
	__u32 at = BRAID_VTHREADS_OF_JVM(slot);

	return bpf_map_lookup_elem(&vthread_counts, &at);
}

/* The counts that an entry belongs to. */
struct vthread_counts {
	struct braid_vthread_count *all, *user, *own;
};

static __always_inline bool vthread_counts_of(__u32 slot, __u32 user, struct vthread_counts *c)
{
	__u32 all = BRAID_VTHREADS_OF_ALL, of_user = BRAID_VTHREADS_OF_USER(user);

	c->all = bpf_map_lookup_elem(&vthread_counts, &all);
	c->user = bpf_map_lookup_elem(&vthread_counts, &of_user);
	c->own = vthread_count_of_jvm(slot);
	return c->all && c->user && c->own;
}

static __always_inline void vthread_counts_add(const struct vthread_counts *c, __s64 n)
{
	__sync_fetch_and_add(&c->all->entries, n);
	__sync_fetch_and_add(&c->user->entries, n);
	__sync_fetch_and_add(&c->own->entries, n);
}

static __always_inline bool vthread_is_room(const struct vthread_counts *c)
{
	return entries_left(BRAID_VTHREAD_TIMES, c->all->entries, c->user->entries, c->own->entries);
}

/* NULL: it has none. One that is not complete is another thread's, which lies about what it mounts. */
static __always_inline struct braid_vthread_time *vthread_time_of(const struct braid_vthread_key *key)
{
	struct braid_vthread_time *v = bpf_map_lookup_elem(&vthread_times, key);

	return v && v->pid ? v : NULL;
}

/* A new entry of the JVM in a slot; NULL when there is no room. */
static __always_inline struct braid_vthread_time *vthread_time_new(const struct braid_vthread_key *key, __u32 slot,
								   __u32 tgid, __u64 since_ns)
{
	__u32 user = process_user(bpf_map_lookup_elem(&processes, &tgid));
	struct braid_vthread_time *v = NULL;
	struct vthread_counts c;

	if (!vthread_counts_of(slot, user, &c))
		return NULL;
	if (vthread_is_room(&c) && !bpf_map_update_elem(&vthread_times, key, &vthread_time_none, BPF_NOEXIST))
		v = bpf_map_lookup_elem(&vthread_times, key);
	if (!v) {
		c.own->full = 1;
		return NULL;
	}
	v->since_ns = since_ns;
	v->slot = slot;
	v->user = user;
	v->was_long = 1;
	vthread_counts_add(&c, 1);
	*(volatile __u32 *)&v->pid = tgid; /* from now on others may remove it */
	return v;
}

static __always_inline void vthread_time_remove(const struct braid_vthread_key *key, const struct braid_vthread_time *v)
{
	struct vthread_counts c;
	bool counted = vthread_counts_of(v->slot, v->user, &c);

	if (!bpf_map_delete_elem(&vthread_times, key) && counted)
		vthread_counts_add(&c, -1);
}

/* ---- sums ---- */

/* Adds what the carrier's sums are at that time. A global function: the verifier checks it once. */
__noinline int vthread_time_add(struct braid_vthread_time *v, const struct braid_thread_time *t, __u64 now)
{
	if (!v || !t)
		return 0;
	v->run_ns += t->run_ns + (t->on_ns && now > t->on_ns ? now - t->on_ns : 0);
	v->ready_ns += t->ready_ns;
	for (__u32 i = 0; i < BRAID_OFFCPU_CLASSES; i++) {
		v->counted[i] += t->counted[i];
		v->counted_ns[i] += t->counted_ns[i];
	}
	return 0;
}

__noinline int vthread_time_subtract(struct braid_vthread_time *v, const struct braid_thread_time *t, __u64 now)
{
	if (!v || !t)
		return 0;
	v->run_ns -= t->run_ns + (t->on_ns && now > t->on_ns ? now - t->on_ns : 0);
	v->ready_ns -= t->ready_ns;
	for (__u32 i = 0; i < BRAID_OFFCPU_CLASSES; i++) {
		v->counted[i] -= t->counted[i];
		v->counted_ns[i] -= t->counted_ns[i];
	}
	return 0;
}

/* The current thread mounts it. Without sums of its own, those of the virtual thread stay as they are. */
static __always_inline void vthread_time_on(struct braid_vthread_time *v, __u64 number, struct braid_thread_time *t,
					    __u64 now)
{
	v->off_ns = 0;
	v->carrier = 0;
	if (!t)
		return;
	t->carries = 1;
	if (!t->since_ns)
		return;
	v->carrier = t->tid;
	t->vthread = number;
	t->mounted_ns = now;
	vthread_time_subtract(v, t, now);
}

static __always_inline void vthread_time_reset(struct braid_vthread_time *v)
{
	v->run_ns = v->ready_ns = 0;
	for (__u32 i = 0; i < BRAID_OFFCPU_CLASSES; i++)
		v->counted[i] = v->counted_ns[i] = 0;
}

/* The current thread unmounts it. */
static __always_inline void vthread_time_off(struct braid_vthread_time *v, struct braid_thread_time *t, __u64 now)
{
	if (t && v->carrier == t->tid)
		vthread_time_add(v, t, now);
	else if (v->carrier) /* an unmount was missed: what it ran is not known */
		vthread_time_reset(v);
	if (t) {
		t->carries = 1;
		t->vthread = 0;
	}
	v->carrier = 0;
	v->off_ns = now;
}

/* The current thread ends while it carries a virtual thread, as threads of a JVM that ends do. */
static __always_inline void vthread_time_orphan(struct braid_thread_time *t, __u64 now)
{
	struct braid_vthread_key key = {.number = t->vthread};
	struct braid_vthread_time *v;
	struct braid_jvm *jvm;
	__u32 slot = t->slot;

	if (!t->vthread)
		return;
	jvm = bpf_map_lookup_elem(&jvms, &slot);
	if (!jvm)
		return;
	key.jvm = java_thread_jvm(slot, jvm->generation);
	v = vthread_time_of(&key);
	if (!v || v->off_ns)
		return;
	vthread_time_off(v, t, now);
	v->flags |= BRAID_VTHREAD_ENDED;
}

#endif
