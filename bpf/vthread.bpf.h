// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* From the frames of a virtual thread to its id and name. */
#ifndef BRAID_VTHREAD_BPF_H
#define BRAID_VTHREAD_BPF_H

#include "java_threads.bpf.h"

#include <braid/walk.h>

struct vthread_id {
	__u64 id;
	__u32 jvm;
	__u32 reserved;
};

/* Virtual threads whose names were sent up, with the reference that led to the name then. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1 << 14);
	__type(key, struct vthread_id);
	__type(value, __u64);
} vthreads_seen SEC(".maps");

/* One per slot. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set at load */
	__type(key, __u32);
	__type(value, struct braid_event_vthread);
} vthread_events SEC(".maps");

/* Objects of the older ZGC have several addresses, which differ in bits from 42 on. */
static __always_inline bool vthread_same(__u64 a, __u64 b)
{
	return ((a ^ b) & ((1ULL << 42) - 1)) == 0;
}

/* Sends a virtual thread's id and name up; false when there was no room, and it is to be tried again. */
static __noinline bool vthread_send(struct braid_walk *w, const struct braid_layout *l, __u64 thread, __u64 id)
{
	__u32 slot = w ? w->slot : 0, length = 0;
	struct braid_event_vthread *e = bpf_map_lookup_elem(&vthread_events, &slot);
	__u64 string, array;

	if (!e || !w || !l)
		return false;
	e->hdr.kind = BRAID_EVENT_VTHREAD;
	e->hdr.time_ns = bpf_ktime_get_ns();
	e->pid = bpf_get_current_pid_tgid() >> 32;
	e->id = id;
	e->utf16 = 0;
	string = walk_oop(w, l, thread + l->vthreads.thread_name);
	if (string) {
		array = walk_oop(w, l, string + l->vthreads.string_value);
		walk_read(w, &e->utf16, 1, string + l->vthreads.string_coder);
		if (!array || walk_read(w, &length, 4, array + l->vthreads.array_length))
			length = 0;
		if (length > BRAID_VTHREAD_NAME_MAX)
			length = BRAID_VTHREAD_NAME_MAX;
		if (length && walk_read(w, e->name, length, array + l->vthreads.array_data))
			length = 0;
	}
	e->name_bytes = length;
	e->hdr.size = sizeof(*e);
	return !bpf_ringbuf_output(&events, e, sizeof(*e), BPF_RB_NO_WAKEUP);
}

/*
 * The id of the virtual thread whose ContinuationEntry the walk has passed, 0 when it is none's or cannot be read. From
 * the continuation to its task to the thread, and back from there to the continuation: a collector may have moved any
 * of them, or be about to.
 */
static __noinline __u64 vthread_identify(struct braid_walk *w, const struct braid_layout *l)
{
	struct vthread_id key = {.jvm = w ? (__u32)w->jvm : 0};
	__u64 cont, thread, name = 0, *seen;
	const struct braid_vthreads *v;

	if (!w || !l || !(l->vthreads.flags & BRAID_VTHREADS_NAMES))
		return 0;
	v = &l->vthreads;
	if (walk_read(w, &cont, 8, w->entry + v->entry_cont))
		return 0;
	thread = walk_oop(w, l, walk_oop(w, l, cont + v->cont_target) + v->task_thread);
	if (!thread || !vthread_same(walk_oop(w, l, thread + v->thread_cont), cont) ||
	    walk_read(w, &key.id, 8, thread + v->thread_id) || !key.id)
		return 0;
	walk_read(w, &name, v->oops == BRAID_OOPS_COMPRESSED ? 4 : 8, thread + v->thread_name);
	seen = bpf_map_lookup_elem(&vthreads_seen, &key);
	if ((!seen || *seen != name) && vthread_send(w, l, thread, key.id))
		bpf_map_update_elem(&vthreads_seen, &key, &name, BPF_ANY);
	return key.id;
}

#endif
