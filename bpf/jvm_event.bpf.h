// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Events of JVMs on their way to the collector. */
#ifndef BRAID_JVM_EVENT_BPF_H
#define BRAID_JVM_EVENT_BPF_H

#include "stack.bpf.h"

/*
 * Samples go first: of the ring, half is theirs alone, whatever else happens. False, and counted, when the other half
 * is full; to be asked before a stack is taken for the event.
 */
static __always_inline bool jvm_event_room(__u32 kind)
{
	struct braid_counters *c = counters_get();

	if (bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) < bpf_ringbuf_query(&events, BPF_RB_RING_SIZE) / 2)
		return true;
	if (c)
		COUNT(c, jvm_lost[kind % BRAID_JVM_KINDS_MAX], 1);
	return false;
}

/* An event of the current thread, to be filled in and submitted at once (bpf_ringbuf_submit); NULL: counted as lost. */
static __always_inline struct braid_event_jvm *jvm_event_begin(__u32 kind, const struct braid_stack_ref *ref)
{
	struct braid_event_jvm *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	struct braid_counters *c = counters_get();
	__u64 id = bpf_get_current_pid_tgid();

	if (!e) {
		if (c)
			COUNT(c, jvm_lost[kind % BRAID_JVM_KINDS_MAX], 1);
		return NULL;
	}
	*e = (struct braid_event_jvm){0};
	e->hdr.kind = BRAID_EVENT_JVM;
	e->hdr.size = sizeof(*e);
	e->hdr.time_ns = bpf_ktime_get_ns();
	e->pid = id >> 32;
	e->tid = (__u32)id;
	e->stack = ref->stack;
	e->vthread = ref->vthread;
	e->generation = ref->generation;
	e->what.kind = kind;
	return e;
}

#endif
