// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * What an agent's thread runs when something has happened in its JVM: tells the event, with the thread's whole stack.
 * It gives nothing away that the JVM could not read itself, and takes no more room than samples leave.
 */
#ifndef BRAID_DEMAND_BPF_H
#define BRAID_DEMAND_BPF_H

#include "offcpu.bpf.h"

SEC("syscall")
int demand(struct braid_demand *arg)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, kind = arg->kind;
	struct braid_process *p = bpf_map_lookup_elem(&processes, &tgid);
	struct stack_ref ref = {0};
	struct braid_event_jvm *e;
	struct sample *s;

	if (!p || !p->jvm)
		return -1; /* EPERM */
	if (!kind || kind >= BRAID_JVM_EVENTS)
		return -22; /* EINVAL */
	if (!jvm_event_room(kind))
		return 0;
	s = stack_begin(p);
	if (s)
		stack_take(s, stack_entry_regs(bpf_get_current_task_btf(), &s->w), &ref);
	e = jvm_event_begin(kind, &ref);
	if (!e)
		return 0;
	e->source = BRAID_SOURCE_AGENT;
	e->what = *arg;
	e->what.kind = kind;
	if (kind == BRAID_JVM_LOCK || kind == BRAID_JVM_WAIT)
		offcpu_waker_since(e, arg->start_ns);
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

#endif
