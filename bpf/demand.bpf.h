// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * What an agent's thread runs when something has happened in its JVM: tells the event, with the thread's whole stack.
 * It gives nothing away that the JVM could not read itself, and takes no more room than its share.
 */
#ifndef BRAID_DEMAND_BPF_H
#define BRAID_DEMAND_BPF_H

#include "offcpu.bpf.h"

/*
 * A JVM can ask as fast as it likes: it has a share of the ring, so that others find room. Half of the ring is for what
 * JVMs ask for. Of that half one JVM has at most ASKED_PER_FREE times what is still free: alone it gets three fourths,
 * and however many ask, what is free never falls to nothing. Collector: resets entries.
 */
#define ASKED_PER_FREE 3
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BRAID_MAX_JVMS);
	__type(key, __u32);
	__type(value, struct braid_asked);
} asked SEC(".maps");

static __always_inline bool demand_room(struct braid_asked *a, __u32 kind)
{
	__u64 half = bpf_ringbuf_query(&events, BPF_RB_RING_SIZE) / 2;
	__u64 used = bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA);

	if (bpf_ringbuf_query(&events, BPF_RB_CONS_POS) >= a->until) {
		a->until = bpf_ringbuf_query(&events, BPF_RB_PROD_POS);
		a->bytes = 0;
	}
	if (used < half && a->bytes < ASKED_PER_FREE * (half - used))
		return true;
	__sync_fetch_and_add(&a->lost[kind % BRAID_JVM_KINDS_MAX], 1);
	return false;
}

static __always_inline void demand_stack(const struct braid_process *p, struct braid_stack_ref *ref)
{
	struct sample *s = stack_begin(p);

	if (s)
		(void)stack_take(s->w.slot, stack_entry_regs(bpf_get_current_task_btf(), &s->w), ref);
}

SEC("syscall")
int demand(struct braid_ask *arg)
{
	struct braid_stack_ref ref = {.stack = arg->stack, .vthread = arg->vthread, .generation = arg->generation};
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, kind = arg->what.kind;
	struct braid_process *p = bpf_map_lookup_elem(&processes, &tgid);
	struct braid_event_jvm *e;
	struct braid_asked *a;
	__u32 slot;

	if (!p || !p->jvm)
		return -1; /* EPERM */
	if (kind >= BRAID_JVM_EVENTS)
		return -22; /* EINVAL */
	slot = p->jvm - 1;
	a = bpf_map_lookup_elem(&asked, &slot);
	if (!a || !demand_room(a, kind))
		return 0;
	if (!ref.stack)
		demand_stack(p, &ref);
	arg->stack = ref.stack;
	arg->vthread = ref.vthread;
	arg->generation = ref.generation;
	__sync_fetch_and_add(&a->bytes, ref.bytes + sizeof(*e));
	e = kind ? jvm_event_begin(kind, &ref) : NULL;
	if (!e)
		return 0;
	e->source = BRAID_SOURCE_AGENT;
	e->what = arg->what;
	e->what.kind = kind;
	if (kind == BRAID_JVM_LOCK || kind == BRAID_JVM_WAIT)
		offcpu_waker_since(e, arg->what.start_ns);
	bpf_ringbuf_submit(e, BPF_RB_NO_WAKEUP);
	return 0;
}

#endif
