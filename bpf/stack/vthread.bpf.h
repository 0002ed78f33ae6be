// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Identifies the virtual thread whose frames were walked, and sends its name. stack.bpf.h calls it. */
#ifndef BRAID_VTHREAD_BPF_H
#define BRAID_VTHREAD_BPF_H

#include "objects.bpf.h"
#include "slot.bpf.h"

/*
 * Virtual threads whose names were sent. A thread has one slot, which contains a hash of it and of the reference to its
 * name at that time. Threads that share a slot are sent more often. No hash map: a program that runs in an NMI must not
 * add to one that other programs add to, as it may wait for a lock that its own CPU has taken.
 */
#define SENT_VTHREADS (1 << 16)
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SENT_VTHREADS);
	__type(key, __u32);
	__type(value, __u64);
} sent_vthreads SEC(".maps");

/* One per slot. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set at load */
	__type(key, __u32);
	__type(value, struct braid_event_vthread);
} vthread_events SEC(".maps");

/* Sends a virtual thread's id and name; false when there is no room, so that a later sample tries again. */
static __always_inline bool vthread_send(struct braid_event_vthread *e, __u64 id)
{
	e->hdr.kind = BRAID_EVENT_VTHREAD;
	e->hdr.size = sizeof(*e);
	e->hdr.time_ns = bpf_ktime_get_ns();
	e->pid = bpf_get_current_pid_tgid() >> 32;
	e->id = id;
	return !bpf_ringbuf_output(&events, e, sizeof(*e), events_wake());
}

/* The offset of call_stub's last argument, the JavaThread (StubGenerator::generate_call_stub). */
#define STUB_THREAD 24

static __noinline __u64 vthread_java_thread(struct sample *s, const struct braid_layout *l)
{
	__u64 thread = s ? java_thread_own((__u32)s->w.jvm) : 0;

	/* The agent may not have reported a new thread yet; the JavaThread counts if it belongs to this OS thread. */
	if (thread || !s || !l || !s->stub_fp || walk_read(&s->w, &thread, 8, s->stub_fp + STUB_THREAD))
		return thread;
	return java_thread_os(&s->w, l, thread) == java_thread_tid() ? thread : 0;
}

__noinline __u64 vthread_of_klass(struct braid_walk *w, const struct braid_layout *l, __u64 thread)
{
	return l && object_klass(w, l, thread) == l->objects.virtual_klass ? thread : 0;
}

/* The virtual thread that a JavaThread has mounted; 0 around mounting and unmounting, when it is the carrier itself. */
static __always_inline __u64 vthread_mounted(struct braid_walk *w, const struct braid_layout *l, __u64 java_thread)
{
	return vthread_of_klass(w, l, object_of_thread(w, l, java_thread + l->objects.current));
}

/* The same, from the continuation to its task to the thread, which must refer back to the continuation. */
__noinline __u64 vthread_of_task(struct braid_walk *w, const struct braid_layout *l, __u64 entry)
{
	__u64 cont, thread;

	if (!w || !l || !(l->vthreads.flags & BRAID_VTHREADS_TASKS) || !l->vthreads.entry_cont ||
	    walk_read(w, &cont, 8, entry + l->vthreads.entry_cont))
		return 0;
	thread = object_field(w, l, cont + l->vthreads.cont_target);
	thread = thread ? object_field(w, l, thread + l->vthreads.task_thread) : 0;
	if (!thread || object_field(w, l, thread + l->vthreads.thread_cont) != cont)
		return 0;
	return vthread_of_klass(w, l, thread);
}

/* Finds the walked frames' virtual thread by its ContinuationEntry and the carrier's JavaThread, if that is known. */
__noinline __u64 vthread_find(struct braid_walk *w, const struct braid_layout *l, __u64 java_thread, __u64 entry)
{
	__u64 thread = 0;

	if (!w || !l)
		return 0;
	if (java_thread)
		thread = vthread_mounted(w, l, java_thread);
	return thread ?: vthread_of_task(w, l, entry);
}

static __always_inline bool vthread_is_entry(struct braid_walk *w, const struct braid_layout *l, __u64 entry)
{
	__u32 is;

	return l->vthreads.entry_flags && !walk_read(w, &is, 4, entry + l->vthreads.entry_flags) && is;
}

/*
 * The id of the virtual thread that has mounted this entry's continuation, where the VM keeps it outside objects; 0:
 * not known. From 25 on the thread owns monitors by it: VirtualThread sets it before it enters its continuation and
 * restores its carrier's after that. Before 25, JFR has it while the virtual thread is the current one, and keeps it
 * while the carrier is (JfrThreadLocal::on_set_current_thread), until the next one mounts. Where threads mount
 * outside continuations, it is valid inside them all the time.
 *
 * It cannot be another thread's. Only the sampled thread itself writes all of this, and it stands still meanwhile, so
 * what counts is its order of writes. VirtualThread.mount() sets the current thread, and with it JFR's id and flag
 * (JVM_SetCurrentThread, or the same in C2's LibraryCallKit::extend_setCurrentThread), and only after that enterSpecial
 * makes the entry. At the end the frames are frozen or gone, and the entry is, before VirtualThread.unmount() clears
 * the flag; the id stays. In between, while another thread is scheduled or unparked, current thread and flag change and
 * the id is written with the same value. So frames below an entry have its id, whenever the recording began: the kernel
 * side keeps nothing of it between samples. Until all places are known there is no id: each layout contains what the
 * earlier ones did (objects_resolve_locked()), so a walk during its replacement finds a place or none, but no wrong
 * one.
 */
__noinline __u64 vthread_number(struct braid_walk *w, const struct braid_layout *l, __u64 java_thread, __u64 entry)
{
	const struct braid_probed *p;
	__u64 number;
	__u8 current = 0;

	if (!w || !l || !java_thread)
		return 0;
	if (l->vthreads.thread_owner && l->vthreads.entry_flags)
		return vthread_is_entry(w, l, entry) &&
				       !walk_read(w, &number, 8, java_thread + l->vthreads.thread_owner)
			       ? number
			       : 0;
	p = probed_here();
	if (!p || !p->thread_number || walk_read(w, &current, 1, java_thread + p->thread_virtual) ||
	    walk_read(w, &number, 8, java_thread + p->thread_number))
		return 0;
	if (!current && (!(l->vthreads.flags & BRAID_VTHREADS_AROUND) || !vthread_is_entry(w, l, entry)))
		return 0;
	return number;
}

/* Reads the name; false when it is not readable now. */
__noinline bool vthread_name(struct braid_walk *w, const struct braid_layout *l, __u64 thread,
			     struct braid_event_vthread *e)
{
	__u64 string, array;
	__u32 length = 0;

	if (!w || !l || !e)
		return false;
	string = object_field(w, l, thread + l->objects.thread_name);
	array = string ? object_field(w, l, string + l->objects.string_value) : 0;
	if (!array || walk_read(w, &e->utf16, 1, string + l->objects.string_coder) ||
	    walk_read(w, &length, 4, array + l->objects.array_length))
		return false;
	if (length > BRAID_VTHREAD_NAME_MAX)
		length = BRAID_VTHREAD_NAME_MAX;
	if (length && walk_read(w, e->name, length, array + l->objects.array_data))
		return false;
	e->name_bytes = length;
	return object_field(w, l, thread + l->objects.thread_name) == string &&
	       object_field(w, l, string + l->objects.string_value) == array;
}

/* The ContinuationEntry above the walked frames; 0: they belong to no virtual thread. */
static __noinline __u64 vthread_entry(struct sample *s, const struct braid_layout *l, __u64 java_thread)
{
	__u64 entry;

	if (!s || !l)
		return 0;
	if (s->w.entry)
		return s->w.entry;
	return java_thread && !walk_read(&s->w, &entry, 8, java_thread + l->vthreads.thread_entry) ? entry : 0;
}

/* True if the frames may be a virtual thread's. Most threads are none, and their walks passed no enterSpecial. */
static __always_inline bool vthread_possible(const struct sample *s, const struct braid_layout *l)
{
	if (!l || !l->objects.virtual_klass || !l->vthreads.thread_entry)
		return false;
	return s->w.entry || s->w.end == BRAID_END_FROZEN || (s->w.java && !l->vthreads.enter_start);
}

/*
 * Returns the thread's id, and sends its name when it may be new. `id` is the id if it is already known, and is
 * returned when no object confirms one. A collector may move any object at any time: the path to the thread must be
 * the same after id and name have been read. If that object says another id than the VM, nothing shows which is wrong,
 * and the identity is absent.
 */
static __always_inline __u64 vthread_by_object(struct sample *s, const struct braid_layout *l, __u64 java_thread,
					       __u64 entry, __u64 id)
{
	__u64 thread, number = 0, name = 0, mark, *sent;
	struct braid_event_vthread *e;
	__u32 at;
	bool news;

	if (!s || !l)
		return id;
	thread = vthread_find(&s->w, l, java_thread, entry);
	if (!thread || walk_read(&s->w, &number, 8, thread + l->objects.thread_id) || !number)
		return id;
	walk_read(&s->w, &name, l->objects.oops == BRAID_OOPS_COMPRESSED ? 4 : 8, thread + l->objects.thread_name);
	mark = braid_mix(braid_mix(1, (__u32)s->w.jvm), number);
	at = (__u32)(mark >> 20) % SENT_VTHREADS;
	mark = braid_mix(mark, name) | 1;
	sent = bpf_map_lookup_elem(&sent_vthreads, &at);
	e = bpf_map_lookup_elem(&vthread_events, &s->w.slot);
	news = sent && e && (!id || number == id) && *sent != mark && vthread_name(&s->w, l, thread, e);
	if (vthread_find(&s->w, l, java_thread, entry) != thread)
		return id;
	if (id && number != id)
		return 0;
	if (news && vthread_send(e, number))
		*sent = mark;
	return number;
}

/* The id of the virtual thread whose frames were walked. 0: there is none, or it cannot be read, which is counted. */
static __noinline __u64 vthread_identify(struct sample *s, const struct braid_layout *l)
{
	struct braid_counters *c = counters_get();
	__u64 java_thread, entry, id;

	if (!s || !l || !c)
		return 0;
	java_thread = vthread_java_thread(s, l);
	entry = vthread_entry(s, l, java_thread);
	if (!entry)
		return 0;
	s->carries = 1;
	COUNT(c, vthread_stacks, 1);
	id = vthread_by_object(s, l, java_thread, entry, vthread_number(&s->w, l, java_thread, entry));
	if (id)
		COUNT(c, vthread_known, 1);
	return id;
}

#endif
