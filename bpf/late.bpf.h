// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Samples that are walked late: a program that was just started, or a library that was just loaded, runs before the
 * collector has told of its mappings. Such a stack goes up as it is in memory, and the collector walks it when it has
 * read what happened before.
 */
#ifndef BRAID_LATE_BPF_H
#define BRAID_LATE_BPF_H

#include "maps.bpf.h"

#include <braid/frame.h>

struct late {
	struct braid_event_late event;
	__u8 pages[BRAID_LATE_PAGES][BRAID_LATE_PAGE];
};

/* One per CPU; a per-CPU map's values are smaller. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set at load */
	__type(key, __u32);
	__type(value, struct late);
} lates SEC(".maps");

/* What a walk begins with. */
struct late_regs {
	__u64 pc, sp, fp, rax, rbx, r10, r13;
};

/* Can knowing more have helped? */
static __always_inline bool late_wanted(const struct braid_process *p, __u32 end)
{
	if (p && (p->flags & BRAID_PROCESS_NOT_LATE))
		return false;
	return end == BRAID_END_NO_MAPPING || end == BRAID_END_NO_TABLE || end == BRAID_END_BAD_RA ||
	       end == BRAID_END_NO_PROCESS;
}

/* As many pages as there are up to the last that is in memory. */
static __always_inline __u32 late_copy(struct late *l, __u64 from)
{
	__u32 count = 0;

	l->event.missing = 0;
	for (__u32 i = 0; i < BRAID_LATE_PAGES; i++) {
		if (bpf_probe_read_user(l->pages[i], BRAID_LATE_PAGE, (const void *)(from + i * BRAID_LATE_PAGE)))
			l->event.missing |= 1U << i;
		else
			count = i + 1;
	}
	return count;
}

/* Sends the sample `like`: false when that is not possible. The kernel's part of the stack is at `kernel`. */
static __noinline bool late_send(const struct braid_event_sample *like, const struct late_regs *r, const __u64 *kernel,
				 __u32 kernel_count, __u32 cause)
{
	__u32 cpu = bpf_get_smp_processor_id(), pages;
	struct late *l = bpf_map_lookup_elem(&lates, &cpu);
	struct braid_event_late *e;

	if (!l)
		return false;
	e = &l->event;
	pages = late_copy(l, r->sp & ~(__u64)(BRAID_LATE_PAGE - 1));
	if (!pages)
		return false;
	if (kernel_count > BRAID_MAX_KERNEL_DEPTH)
		kernel_count = BRAID_MAX_KERNEL_DEPTH;
	barrier_var(kernel_count); /* a loop of as many steps would cost the verifier more than all else here */
	if (kernel_count > BRAID_MAX_KERNEL_DEPTH ||
	    bpf_probe_read_kernel(e->kernel, kernel_count * sizeof(*kernel), kernel))
		kernel_count = 0;
	e->hdr.kind = BRAID_EVENT_LATE;
	e->hdr.size = sizeof(*e) + pages * BRAID_LATE_PAGE;
	e->hdr.time_ns = like->hdr.time_ns;
	e->pid = like->pid;
	e->tid = like->tid;
	e->cpu = like->cpu;
	e->cause = cause;
	e->generation = like->generation;
	e->kernel_count = kernel_count;
	e->page_count = pages;
	e->pc = r->pc;
	e->sp = r->sp;
	e->fp = r->fp;
	e->rax = r->rax;
	e->rbx = r->rbx;
	e->r10 = r->r10;
	e->r13 = r->r13;
	return !bpf_ringbuf_output(&events, l, sizeof(*e) + pages * BRAID_LATE_PAGE, BPF_RB_NO_WAKEUP);
}

#endif
