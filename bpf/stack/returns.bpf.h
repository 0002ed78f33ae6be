// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Return addresses that the kernel has replaced. At the entry of a function with a return probe (uretprobe), also of
 * another tool, the kernel writes the address of its trampoline over the return address, and keeps the original one in
 * a list of the thread (kernel/events/uprobes.c). The walk and the copies of stacks get the original ones here.
 */
#ifndef BRAID_RETURNS_BPF_H
#define BRAID_RETURNS_BPF_H

#include "kernel_read.bpf.h"
#include "maps.bpf.h"

#define RETURNS_MAX 64 /* the kernel's own limit for a thread (MAX_URETPROBE_DEPTH) */
/* The kernel's trampoline, or its copy of a probed instruction with the bytes behind it (UPROBE_XOL_SLOT_BYTES). */
#define XOL_SLOT_BYTES 128

struct stack_page {
	__u64 word[512];
};

/* The innermost return of the thread that is still to come; NULL: there is none. */
static __always_inline struct return_instance *returns_pending(struct task_struct *task)
{
	struct uprobe_task *u = TASK_POINTER(task, utask);

	return u ? u->return_instances : NULL;
}

/* The address of the process's trampoline; 0: it has none. */
static __always_inline __u64 returns_trampoline(struct task_struct *task)
{
	struct mm_struct *mm = TASK_POINTER(task, mm);
	struct xol_area *area = mm ? mm->uprobes_state.xol_area : NULL;

	return area ? area->vaddr : 0;
}

/* The return address that belongs at `at` of the current thread's stack, where `word` is. */
__noinline __u64 returns_original(__u64 word, __u64 at)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct return_instance *r = returns_pending(task);

	if (!r || word != returns_trampoline(task))
		return word;
	for (__u32 i = 0; i < RETURNS_MAX && r; i++, r = r->next)
		if (r->stack == at)
			return r->orig_ret_vaddr;
	return word;
}

/* A copy of a part of the thread's stack, and the next return to restore in it. */
struct returns_copy {
	struct stack_page *copy;
	struct return_instance *next;
	__u64 at; /* its address */
	__u64 trampoline;
	__u32 bytes;
};

static long returns_restore_one(__u32 i, void *ctx)
{
	struct returns_copy *c = ctx;
	struct return_instance *r = c->next;
	__u64 offset, *word;

	(void)i;
	if (!r)
		return 1;
	offset = r->stack - c->at;
	word = &c->copy->word[offset / 8 % 512];
	/* Functions that longjmp() has left may still be in the list. */
	if (!(offset & 7) && offset < c->bytes && *word == c->trampoline)
		*word = r->orig_ret_vaddr;
	c->next = r->next;
	return 0;
}

/* The same for a copy of a part of the thread's stack, which begins at `at`. */
__noinline int returns_restore(struct stack_page *copy, __u32 bytes, __u64 at)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct returns_copy c = {
		.copy = copy,
		.next = returns_pending(task),
		.at = at,
		.trampoline = returns_trampoline(task),
		.bytes = bytes,
	};

	if (copy && bytes <= sizeof(*copy) && c.next)
		bpf_loop(RETURNS_MAX, returns_restore_one, &c, 0);
	return 0;
}

/* Notes the returns of a thread off the CPU, whose stack the collector reads. */
static __always_inline void returns_note(struct braid_asleep *a, struct task_struct *task)
{
	struct return_instance *r = returns_pending(task);

	if (!r)
		return;
	a->trampoline = returns_trampoline(task);
	for (__u32 i = 0; i < BRAID_ASLEEP_RETURNS && r; i++, r = r->next) {
		a->returns[i].at = r->stack;
		a->returns[i].to = r->orig_ret_vaddr;
	}
}

#endif
