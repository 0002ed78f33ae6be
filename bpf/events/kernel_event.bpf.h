// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * What the programs of kernel events have in common: each is a hit event with a duration, whose filter, budget and
 * counts are those of hits.bpf.h, and which is sent as a JVM event with a stack. Each kernel event has its own file.
 */
#ifndef BRAID_KERNEL_EVENT_BPF_H
#define BRAID_KERNEL_EVENT_BPF_H

#include "files.bpf.h"
#include "hits.bpf.h"

/* Set before loading: the number of the hit event plus one; 0: it is not recorded. */
const volatile __u32 kernel_events[BRAID_KERNEL_EVENTS];

/* The mapping in which a thread had its last page fault: the same one until the process changes its mappings. */
struct fault_mapping {
	__u64 mm;
	__u64 start;
	__u64 end; /* 0: none */
	__u32 changes;
	__u32 kind; /* enum braid_object */
	char text[BRAID_TEXT_MAX];
};

/* What a thread is in. It lasts as long as the thread. */
struct kernel_start {
	__u64 call_ns;	/* 0: in no system call, or not known */
	__u64 fault_ns; /* the same of a page fault, at this address */
	__u64 fault_at;
	__u32 call;
	__u32 reserved;
	struct fault_mapping last;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct kernel_start);
} kernel_starts SEC(".maps");

static __always_inline struct kernel_start *kernel_start_of(struct task_struct *task, bool create)
{
	return bpf_task_storage_get(&kernel_starts, task, NULL, create ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
}

/* Whether the event is recorded of the current process. */
static __always_inline bool kernel_event_wanted(__u32 event)
{
	return kernel_events[event] && hit_event(kernel_events[event] - 1);
}

/* Counts a hit that the filter selects. False when it is lost. */
static __always_inline bool kernel_event_due(__u32 event, __u64 now)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, number = kernel_events[event] - 1;
	struct braid_hit_count *c = bpf_map_lookup_elem(&hit_counts, &number);

	if (!c)
		return false;
	__sync_fetch_and_add(&c->hits, 1);
	if (hit_affordable(number, now, tgid))
		return true;
	hit_lost(c, tgid, BRAID_JVM_SYSCALL + event);
	return false;
}

#define KERNEL_EVENT_OWN_FRAMES 2 /* of a tp_btf program: its own, and that of bpf_trace_run*() */

/* Takes the current thread's stack, with the kernel's part if `ctx` is a program's context, but for its own frames. */
static __always_inline void kernel_event_stack(void *ctx, __u64 own, __u32 event, struct braid_stack_ref *ref)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, number = kernel_events[event] - 1;
	struct sample *s = stack_begin(bpf_map_lookup_elem(&processes, &tgid));
	__u64 began;

	if (!s)
		return;
	began = s->event.hdr.time_ns;
	if (ctx)
		stack_walk_kernel_from(ctx, s, own);
	(void)stack_take(s->w.slot, stack_entry_regs(bpf_get_current_task_btf(), &s->w), ref);
	hit_charge(number, began, tgid);
}

/*
 * Begins an event of a process, by default of the current thread. The caller fills it in and submits it at once. NULL:
 * counted as lost.
 */
static __always_inline struct braid_event_kernel *kernel_event_begin(__u32 tgid, __u32 event,
								     const struct braid_stack_ref *ref)
{
	struct braid_event_kernel *e = jvm_event_begin_sized(tgid, BRAID_JVM_SYSCALL + event, ref, sizeof(*e));

	if (e)
		e->jvm.source = BRAID_SOURCE_KERNEL;
	return e;
}

static __always_inline void kernel_event_object(struct braid_event_kernel *e, const struct object *o)
{
	e->jvm.sleep = o->kind << BRAID_SLEEP_OBJECT_SHIFT;
	__builtin_memcpy(e->jvm.text, o->text, sizeof(e->jvm.text));
}

#endif
