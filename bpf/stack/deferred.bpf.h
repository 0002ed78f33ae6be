// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Sends samples for a deferred unwind. A program that was just started, or a library that was just loaded, runs before
 * the collector knows its mappings. Then the sample carries a copy of the stack, and the collector walks it once it has
 * read what happened before. sample.bpf.h calls it.
 */
#ifndef BRAID_DEFERRED_BPF_H
#define BRAID_DEFERRED_BPF_H

#include "kernel_read.bpf.h"
#include "maps.bpf.h"
#include "returns.bpf.h"

#include <braid/frame.h>

_Static_assert(BRAID_DEFERRED_PAGE == sizeof(struct stack_page), "copies are made by the page");
#define LATE_PAGES_BYTES (BRAID_DEFERRED_PAGES * BRAID_DEFERRED_PAGE)
#define LATE_RED_ZONE 128 /* the ABI's, below sp */
#define LATE_ABOVE 64	  /* above the first frame's sp, for rules that read there */

struct deferred_copy {
	struct braid_event_deferred event;
	__u8 bytes[BRAID_MAX_KERNEL_DEPTH * 8 + LATE_PAGES_BYTES];
};

/* One per slot that takes samples; a per-CPU map's values are smaller. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set at load */
	__type(key, __u32);
	__type(value, struct deferred_copy);
} deferred_copies SEC(".maps");

/* The registers that a walk begins with. */
struct deferred_regs {
	__u64 pc, sp, fp, rax, rbx, r10, r13;
	__u32 slot; /* of the walk, see slot.bpf.h */
	__u32 reserved;
};

/* True if the walk may get further with more knowledge. */
static __always_inline bool deferred_useful(const struct braid_process *p, __u32 end)
{
	if (p && (p->flags & BRAID_PROCESS_NOT_DEFERRED))
		return false;
	return end == BRAID_END_NO_MAPPING || end == BRAID_END_NO_TABLE || end == BRAID_END_BAD_RA ||
	       end == BRAID_END_NO_PROCESS;
}

/*
 * The end of the stack above sp. A program's first thread has the beginning that the kernel knows. glibc and musl put
 * another thread's own data on top of its stack, and its thread pointer points there.
 */
static __always_inline __u64 late_end(__u64 sp, __u64 from)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm = TASK_POINTER(task, mm);
	__u64 first = mm ? mm->start_stack : 0, own = task->thread.fsbase;
	__u64 end = (from & ~(__u64)(BRAID_DEFERRED_PAGE - 1)) + LATE_PAGES_BYTES;

	if (first >= sp && first + LATE_ABOVE < end)
		end = first + LATE_ABOVE;
	if (own > sp && own < end)
		end = own;
	return end;
}

/* Where the copied part of page `page` begins; pages count from that of the first byte. */
static __always_inline __u64 late_page_at(const struct deferred_copy *l, __u32 page)
{
	__u64 first = l->event.stack_at;

	return page ? (first & ~(__u64)(BRAID_DEFERRED_PAGE - 1)) + page * BRAID_DEFERRED_PAGE : first;
}

/*
 * Copies one page of the stack, up to `end`, to its place after the kernel's frames. Returns the size of the stack up
 * to there; 0 when the page is not in memory. A global function: the verifier does not follow its sizes page by page.
 */
__noinline int late_page(__u32 slot, __u32 page, __u64 end)
{
	struct deferred_copy *l = bpf_map_lookup_elem(&deferred_copies, &slot);
	__u64 from, skipped, to, size;

	if (!l)
		return 0;
	from = late_page_at(l, page);
	skipped = from - l->event.stack_at;
	to = skipped + l->event.kernel_count * sizeof(__u64);
	size = BRAID_DEFERRED_PAGE - (from & (BRAID_DEFERRED_PAGE - 1));
	if (from < end && size > end - from)
		size = end - from;
	barrier_var(size); /* older verifiers learn nothing from a comparison with another variable */
	if (size > BRAID_DEFERRED_PAGE || to > sizeof(l->bytes) - BRAID_DEFERRED_PAGE)
		return 0;
	if (bpf_probe_read_user(l->bytes + to, size, (const void *)from))
		return 0;
	if (returns_pending(bpf_get_current_task_btf()))
		returns_restore((struct stack_page *)(l->bytes + to), (__u32)size, from);
	return (int)(skipped + size);
}

/* Copies the stack and returns its size up to the last page that is in memory. */
static __always_inline __u32 deferred_fill(struct deferred_copy *l, __u32 slot, __u64 end)
{
	__u32 bytes = 0;
	int reached;

	l->event.missing = 0;
	for (__u32 i = 0; i < BRAID_DEFERRED_PAGES && late_page_at(l, i) < end; i++) {
		reached = late_page(slot, i, end);
		if (reached)
			bytes = reached;
		else
			l->event.missing |= 1U << i;
	}
	return bytes;
}

/* The copy begins at the lower end of the red zone, but not below the page of sp. */
static __always_inline __u64 late_start(__u64 sp)
{
	__u64 offset = sp & (BRAID_DEFERRED_PAGE - 1);

	return sp - (offset < LATE_RED_ZONE ? offset : LATE_RED_ZONE);
}

/* Deferred samples may fill three fourths of the ring, so small events always find room, whatever the stacks' sizes. */
static __always_inline bool late_room(void)
{
	return bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) < events_bytes / 4 * 3;
}

/*
 * Sends the sample `like` with a copy of the stack; returns its bytes, or 0 when that is not possible. `kernel` has the
 * kernel's frames.
 */
static __noinline __u32 deferred_send(const struct braid_event_sample *like, const struct deferred_regs *r,
				      const __u64 *kernel, __u32 kernel_count, __u32 cause)
{
	__u32 slot = r->slot, bytes;
	struct deferred_copy *l = bpf_map_lookup_elem(&deferred_copies, &slot);
	struct braid_event_deferred *e;

	if (!l || !late_room())
		return 0;
	e = &l->event;
	if (kernel_count > BRAID_MAX_KERNEL_DEPTH)
		kernel_count = BRAID_MAX_KERNEL_DEPTH;
	barrier_var(kernel_count); /* a loop of this length would cost the verifier more than all the rest */
	if (kernel_count > BRAID_MAX_KERNEL_DEPTH ||
	    bpf_probe_read_kernel(l->bytes, kernel_count * sizeof(*kernel), kernel))
		kernel_count = 0;
	e->kernel_count = kernel_count;
	e->stack_at = late_start(r->sp);
	e->stack_bytes = deferred_fill(l, slot, late_end(r->sp, e->stack_at));
	if (!e->stack_bytes)
		return 0;
	bytes = kernel_count * sizeof(*kernel) + e->stack_bytes;
	barrier_var(bytes);
	if (bytes > sizeof(l->bytes))
		return 0;
	e->hdr.kind = BRAID_EVENT_DEFERRED;
	e->hdr.size = sizeof(*e) + bytes;
	e->hdr.time_ns = like->hdr.time_ns;
	e->pid = like->pid;
	e->tid = like->tid;
	e->cpu = like->cpu;
	e->cause = cause;
	e->event = like->event;
	e->generation = like->generation;
	e->pc = r->pc;
	e->sp = r->sp;
	e->fp = r->fp;
	e->rax = r->rax;
	e->rbx = r->rbx;
	e->r10 = r->r10;
	e->r13 = r->r13;
	e->span = like->span;
	if (bpf_ringbuf_output(&events, l, sizeof(*e) + bytes, events_wake()))
		return 0;
	return sizeof(*e) + bytes;
}

#endif
