// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Mounts and unmounts of virtual threads, as the agent's threads request them: emits the times for which virtual
 * threads were unmounted, and their lives. stack_request.bpf.h calls it.
 */
#ifndef BRAID_MOUNTS_BPF_H
#define BRAID_MOUNTS_BPF_H

#include "offcpu.bpf.h"
#include "parked.bpf.h"
#include "vthread_time.bpf.h"

/* A time of the current thread for which its sums are known: it is not switched between the two. */
static __always_inline __u64 mount_time(const struct braid_thread_time *t)
{
	const volatile __u64 *on = t ? &t->on_ns : NULL;
	__u64 now = bpf_ktime_get_ns(), before;

	for (int i = 0; on && i < 4; i++) {
		before = *on;
		now = bpf_ktime_get_ns();
		if (*on == before)
			break;
	}
	return now;
}

/* Sends the name of the virtual thread that the current thread has mounted, if it may be new. */
__noinline int mount_send_name(__u32 jvm_slot, __u64 number)
{
	struct braid_jvm *jvm = bpf_map_lookup_elem(&jvms, &jvm_slot);
	struct sample *s;
	__u64 java_thread;
	__u32 slot;

	if (!jvm || !jvm->layout.objects.virtual_klass)
		return 0;
	slot = slot_take();
	s = slot_at(slot);
	if (!s)
		return 0;
	s->w.slot = slot;
	s->w.sp = s->window_bytes = 0; /* none of these reads is on the stack */
	s->w.jvm = java_thread_jvm(jvm_slot, jvm->generation);
	java_thread = java_thread_own((__u32)s->w.jvm);
	if (java_thread)
		(void)vthread_by_object(s, &jvm->layout, java_thread, 0, number);
	slot_release(s);
	return 0;
}

/* ---- the time for which it was unmounted ---- */

static __always_inline void mount_count(struct braid_vthread_time *v, __u64 ns)
{
	__u32 class = v->class;

	if (class >= BRAID_OFFCPU_CLASSES)
		return;
	v->counted[class]++;
	v->counted_ns[class] += ns;
}

/* Reads what the current thread's virtual thread is parked for, and who has it now. */
__noinline int mount_park(struct braid_vthread_time *v)
{
	struct parked parked = {0};
	struct sample *s;
	__u32 slot;

	if (!v)
		return 0;
	slot = slot_take();
	s = slot_at(slot);
	if (!s)
		return 0;
	if (parked_read(slot, v->slot, &parked, true)) {
		v->park.sleep = parked.sleep;
		v->park.owner = parked.owner;
		__builtin_memcpy(v->park.class, parked.class, sizeof(v->park.class));
		if (parked.ownable && !parked.owner)
			v->park.owner_vthread = parked_owner_vthread(slot, v->slot);
	} else {
		v->park.sleep = parked.sleep & BRAID_SLEEP_NO_BLOCKER;
	}
	slot_release(s);
	return 0;
}

static __always_inline void mount_park_forget(struct braid_vthread_time *v)
{
	v->park.owner_vthread = v->park.owner = v->park.sleep = 0;
}

/* What was not read when it was unmounted, because the time was expected to be short, is read now. */
static __always_inline bool mount_emit(struct braid_vthread_time *v, __u64 number, const struct braid_stack_ref *ref,
				       __u64 off_ns, __u64 now)
{
	struct braid_event_jvm_event *e;
	__u32 class = v->class;

	if (class == BRAID_OFFCPU_UNMOUNTED && !v->park.sleep) {
		mount_park(v);
		v->park.sleep |= BRAID_SLEEP_AFTER;
	}
	e = jvm_event_begin(v->pid, BRAID_JVM_OFFCPU, ref);
	if (!e)
		return false;
	e->tid = 0;
	e->vthread = number;
	e->source = BRAID_SOURCE_KERNEL;
	e->event.start_ns = off_ns;
	e->event.end_ns = now;
	e->event.flags = BRAID_OFFCPU_SYSCALL | class << BRAID_OFFCPU_CLASS_SHIFT |
			 (v->flags & BRAID_VTHREAD_BEFORE ? BRAID_OFFCPU_BEFORE : 0);
	braid_vthread_park_to(e, &v->park);
	bpf_ringbuf_submit(e, events_wake());
	return true;
}

/* ---- its life ---- */

__noinline int mount_emit_counted(struct braid_vthread_time *v, __u64 number, __u32 class)
{
	struct braid_stack_ref none = {.vthread = number};
	struct braid_event_jvm_event *e;

	if (!v || class >= BRAID_OFFCPU_CLASSES || !(v->counted[class] | v->counted_ns[class]))
		return 0;
	e = jvm_event_begin(v->pid, BRAID_JVM_COUNTED, &none);
	if (!e)
		return 0;
	e->tid = 0;
	e->source = BRAID_SOURCE_KERNEL;
	e->event.number = BRAID_JVM_OFFCPU;
	e->event.flags = class << BRAID_OFFCPU_CLASS_SHIFT;
	e->event.value = v->counted[class];
	e->event.weight = v->counted_ns[class];
	bpf_ringbuf_submit(e, events_wake());
	return 0;
}

static __always_inline void mount_emit_life(struct braid_vthread_time *v, __u64 number)
{
	struct braid_stack_ref none = {.vthread = number};
	struct braid_event_jvm_event *e;

	for (__u32 i = 0; i < BRAID_OFFCPU_CLASSES; i++)
		mount_emit_counted(v, number, i);
	e = jvm_event_begin(v->pid, BRAID_JVM_THREAD_TIME, &none);
	if (!e)
		return;
	e->tid = 0;
	e->source = BRAID_SOURCE_KERNEL;
	e->event.start_ns = v->since_ns;
	e->event.end_ns = v->off_ns;
	e->event.value = v->run_ns;
	e->event.weight = v->ready_ns;
	bpf_ringbuf_submit(e, events_wake());
}

/* ---- requests ---- */

/* What is known of a virtual thread that has no entry: it is unmounted since `begin_ns`, or about to be for the first
 * time. NULL when there is no room, which is counted. */
static __always_inline struct braid_vthread_time *mount_first(const struct braid_vthread_key *key, __u32 slot,
							      __u32 tgid, __u32 mount, __u64 begin_ns, __u64 now)
{
	struct braid_vthread_count *own = vthread_count_of_jvm(slot);
	bool before = mount == BRAID_MOUNT_ON && begin_ns && begin_ns < now && own && !own->full;
	struct braid_vthread_time *v = vthread_time_new(key, slot, tgid, before ? begin_ns : now);

	if (!v) {
		jvm_event_lost(tgid, mount == BRAID_MOUNT_START ? BRAID_JVM_THREAD_TIME : BRAID_JVM_OFFCPU);
		return NULL;
	}
	if (!before)
		return v;
	v->off_ns = begin_ns;
	v->class = BRAID_OFFCPU_UNMOUNTED;
	v->flags = BRAID_VTHREAD_BEFORE;
	return v;
}

/* Whether the stack is taken. A thread whose times are short would only pay for it. */
static __always_inline bool mount_walks(const struct braid_vthread_time *v, __u32 mount, __u64 off_ns, __u64 min_ns,
					__u64 now)
{
	if (mount == BRAID_MOUNT_ON)
		return off_ns && now - off_ns >= min_ns && !v->start.stack;
	if (mount == BRAID_MOUNT_BLOCK)
		return true;
	return mount == BRAID_MOUNT_OFF && v->was_long;
}

/* Whether a time is reported. For the filter, its thread is the carrier on which it ends. */
static __noinline bool mount_is_selected(__u32 class, __u64 off_ns, __u64 now, __u64 min_ns)
{
	struct braid_interval i = {
		.start_ns = off_ns, .end_ns = now, .flags = BRAID_OFFCPU_SYSCALL | class << BRAID_OFFCPU_CLASS_SHIFT};
	struct braid_thread_time *t;

	if (now - off_ns < min_ns || !offcpu_filtered)
		return now - off_ns >= min_ns;
	t = thread_time_of((__u32)bpf_get_current_pid_tgid());
	i.from = bpf_get_smp_processor_id();
	return t && filter_selects(t, &i);
}

/* It is mounted again: emits or counts the time that has ended. */
static __always_inline void mount_on(struct braid_vthread_time *v, __u64 number, const struct braid_stack_ref *ref,
				     __u64 off_ns, __u64 min_ns, __u64 now)
{
	v->was_long = mount_is_selected(v->class, off_ns, now, min_ns);
	if (!v->was_long || !mount_emit(v, number, ref, off_ns, now))
		mount_count(v, now - off_ns);
	v->flags = 0;
	v->start = (struct braid_stack_ref){0};
	mount_park_forget(v);
}

static __always_inline void mount_end(struct braid_vthread_time *v, const struct braid_vthread_key *key)
{
	mount_send_name(v->slot, key->number);
	mount_emit_life(v, key->number);
	vthread_time_remove(key, v);
}

/* The entry of the request's virtual thread; `key` gets its key. NULL: it has none. */
static __always_inline struct braid_vthread_time *mount_find(const struct braid_stack_request *arg, __u32 slot,
							     struct braid_vthread_key *key)
{
	struct braid_jvm *jvm = bpf_map_lookup_elem(&jvms, &slot);

	key->number = arg->event.number;
	key->jvm = jvm ? java_thread_jvm(slot, jvm->generation) : 0;
	key->reserved = 0;
	return vthread_time_of(key);
}

/*
 * The first step: what was until now belongs to the virtual thread or not. Sets the request's interval to the time that
 * has ended, and returns whether the stack is to be taken. All that the thread does from then on, it does as the other.
 */
static __noinline bool mount_begin(struct braid_stack_request *arg)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, slot = slot_of(tgid), mount = arg->event.flags;
	struct braid_thread_time *t = thread_time_of((__u32)bpf_get_current_pid_tgid());
	const struct braid_offcpu_limits *l = limits_of_pid(tgid);
	struct braid_vthread_key key;
	struct braid_vthread_time *v;
	__u64 off_ns, now;

	arg->event.end_ns = 0;
	if (!l || !l->all || !arg->event.number || !mount || mount > BRAID_MOUNT_END)
		return false;
	v = mount_find(arg, slot, &key);
	now = mount_time(t);
	if (settings_ended(now))
		return false;
	if (!v && mount != BRAID_MOUNT_END)
		v = mount_first(&key, slot, tgid, mount, arg->event.start_ns, now);
	if (!v)
		return false;
	off_ns = v->off_ns;
	if (mount > BRAID_MOUNT_ON && !off_ns)
		vthread_time_off(v, t, now);
	else if (mount <= BRAID_MOUNT_ON && !v->carrier)
		vthread_time_on(v, key.number, t, now);
	arg->event.start_ns = off_ns;
	arg->event.end_ns = now;
	return mount_walks(v, mount, off_ns, l->min_ns, now) && events_room(tgid);
}

/* The second step; `ref` is the stack, if it was taken. */
static __noinline int mount_complete(struct braid_stack_request *arg, struct braid_stack_ref *ref)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, mount = arg->event.flags;
	const struct braid_offcpu_limits *l = limits_of_pid(tgid);
	__u64 off_ns = arg->event.start_ns, now = arg->event.end_ns;
	struct braid_vthread_key key;
	struct braid_vthread_time *v;

	v = now && l ? mount_find(arg, slot_of(tgid), &key) : NULL;
	if (!v)
		return 0;
	if (mount == BRAID_MOUNT_END) {
		mount_end(v, &key);
	} else if (mount > BRAID_MOUNT_ON) {
		jvm_event_charge(tgid, ref->bytes);
		ref->bytes = 0;
		v->start = *ref;
		v->class = mount == BRAID_MOUNT_YIELD ? BRAID_OFFCPU_CARRIER : BRAID_OFFCPU_UNMOUNTED;
		mount_park_forget(v);
		if (mount == BRAID_MOUNT_OFF && v->was_long)
			mount_park(v);
	} else if (off_ns) {
		mount_on(v, key.number, ref->stack ? ref : &v->start, off_ns, l->min_ns, now);
	}
	return 0;
}

#endif
