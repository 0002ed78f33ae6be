// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The program that an agent's thread runs when an event occurs in its JVM: emits the event with the thread's whole
 * stack. Mounts and unmounts of virtual threads are events of which most are only counted (mounts.bpf.h). It reveals
 * nothing that the JVM could not read itself, and uses no more of the event ring than the JVM's share.
 */
#ifndef BRAID_STACK_REQUEST_BPF_H
#define BRAID_STACK_REQUEST_BPF_H

#include "offcpu/mounts.bpf.h"

/* `mounted`: the virtual thread that the thread has mounted, if that is what it reports; else 0. */
static __always_inline void stack_request_walk(const struct braid_process *p, __u64 mounted,
					       struct braid_stack_ref *ref)
{
	struct sample *s = stack_begin(p);

	if (!s)
		return;
	s->mounted = mounted;
	(void)stack_take(s->w.slot, stack_entry_regs(bpf_get_current_task_btf(), &s->w), ref);
}

SEC("syscall")
int stack_request(struct braid_stack_request *arg)
{
	struct braid_stack_ref ref = {
		.stack = arg->stack, .vthread = arg->vthread, .span = arg->span, .generation = arg->generation};
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, kind = arg->event.kind;
	struct braid_process *p = bpf_map_lookup_elem(&processes, &tgid);
	struct braid_event_jvm_event *e;
	bool mounts;

	if (!p || !p->jvm)
		return -1; /* EPERM */
	if (kind >= BRAID_JVM_EVENTS)
		return -22; /* EINVAL */
	mounts = kind == BRAID_JVM_OFFCPU;
	if (!mounts && !jvm_event_room(tgid, kind))
		return 0;
	if (mounts ? mount_begin(arg) : !ref.stack)
		stack_request_walk(p, mounts ? arg->event.number : 0, &ref);
	if (mounts)
		return mount_complete(arg, &ref);
	arg->stack = ref.stack;
	arg->vthread = ref.vthread;
	arg->span = ref.span;
	arg->generation = ref.generation;
	if (!kind) {
		jvm_event_charge(tgid, ref.bytes + sizeof(*e));
		return 0;
	}
	e = jvm_event_begin(tgid, kind, &ref);
	if (!e)
		return 0;
	e->source = BRAID_SOURCE_AGENT;
	e->event = arg->event;
	e->event.kind = kind;
	if (kind == BRAID_JVM_LOCK || kind == BRAID_JVM_WAIT)
		offcpu_waker_since(e, arg->event.start_ns);
	bpf_ringbuf_submit(e, events_wake());
	return 0;
}

#endif
