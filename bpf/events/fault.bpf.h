// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The programs of the kernel event `fault`: the start of a page fault is noted at its tracepoint, and its end is where
 * the kernel counts it as minor or major, by a software event of perf's.
 */
#ifndef BRAID_FAULT_BPF_H
#define BRAID_FAULT_BPF_H

#include "kernel_event.bpf.h"
#include "kernel_read.bpf.h"

static __always_inline int fault_begins(__u64 address)
{
	struct kernel_start *start;

	if (!kernel_event_wanted(BRAID_KERNEL_FAULT))
		return 0;
	start = kernel_start_of(bpf_get_current_task_btf(), true);
	if (!start) /* it is reported without its duration */
		return 0;
	start->fault_at = address;
	start->fault_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/page_fault_user")
int BPF_PROG(on_fault_user, unsigned long address)
{
	return fault_begins(address);
}

/* A system call copies to or from the program's memory. */
SEC("tp_btf/page_fault_kernel")
int BPF_PROG(on_fault_kernel, unsigned long address)
{
	return fault_begins(address);
}

static __always_inline void fault_name(struct object *o, const char *name, __u32 size)
{
	o->kind = BRAID_OBJECT_NAME;
	__builtin_memcpy(o->text, name, size);
}
#define FAULT_NAME(o, name) fault_name(o, name, sizeof(name))

struct fault_place {
	struct object object;
	__u64 start, end;
};

static long fault_mapping(struct task_struct *task, struct vm_area_struct *vma, void *ctx)
{
	struct file *file = BPF_CORE_READ(vma, vm_file);
	unsigned long start = BPF_CORE_READ(vma, vm_start), end = BPF_CORE_READ(vma, vm_end);
	unsigned long stack = BPF_CORE_READ(vma, vm_mm, start_stack);
	struct fault_place *place = ctx;
	struct object *o = &place->object;

	(void)task;
	place->start = start;
	place->end = end;
	if (file)
		object_path(o, BPF_CORE_READ(file, f_path.dentry));
	else if (start <= stack && stack < end)
		FAULT_NAME(o, "[stack]");
	else if (start < BPF_CORE_READ(vma, vm_mm, brk) && end > BPF_CORE_READ(vma, vm_mm, start_brk))
		FAULT_NAME(o, "[heap]");
	else
		FAULT_NAME(o, "[anonymous]");
	return 0;
}

/* How often the mappings of a process have been locked for changes; 0: not known, before Linux 6.4. */
static __always_inline __u32 fault_changes(struct mm_struct *mm)
{
	struct mm_struct___number *older = (void *)mm;

	if (bpf_core_field_exists(mm->mm_lock_seq.sequence))
		return BPF_CORE_READ(mm, mm_lock_seq.sequence);
	if (bpf_core_field_exists(older->mm_lock_seq))
		return BPF_CORE_READ(older, mm_lock_seq);
	return 0;
}

/*
 * Names the mapping at the address. Where interrupts are off, bpf_find_vma() lets one release its lock, which takes ten
 * times as long as all the rest.
 */
static __noinline int fault_object(struct fault_place *place, __u64 address)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct kernel_start *start = kernel_start_of(task, true);
	struct mm_struct *mm = TASK_POINTER(task, mm);
	__u32 changes;

	if (!place || !mm || !start)
		return 0;
	changes = fault_changes(mm);
	if (changes && start->last.mm == (__u64)mm && start->last.changes == changes &&
	    address - start->last.start < start->last.end - start->last.start) {
		place->object.kind = start->last.kind;
		__builtin_memcpy(place->object.text, start->last.text, sizeof(start->last.text));
		return 0;
	}
	(void)bpf_find_vma(task, address, fault_mapping, place, 0);
	start->last.mm = (__u64)mm;
	start->last.start = place->start;
	start->last.end = place->end;
	start->last.changes = changes;
	start->last.kind = place->object.kind;
	__builtin_memcpy(start->last.text, place->object.text, sizeof(start->last.text));
	return 0;
}

static __noinline int fault_emit(__u64 address, bool major, __u64 began, __u64 now, const struct braid_stack_ref *ref)
{
	struct fault_place place = {0};
	struct braid_event_kernel *e;

	fault_object(&place, address);
	e = kernel_event_begin(bpf_get_current_pid_tgid() >> 32, BRAID_KERNEL_FAULT, ref);
	if (!e)
		return 0;
	kernel_event_object(e, &place.object);
	e->jvm.event.start_ns = began;
	e->jvm.event.end_ns = now;
	e->jvm.event.number = address;
	e->value[BRAID_FAULT_ADDRESS] = address;
	e->value[BRAID_FAULT_MAJOR] = major;
	bpf_ringbuf_submit(e, events_wake());
	return 0;
}

static __noinline bool fault_selected(__u64 address, bool major, __u64 ns)
{
	struct hit h = {.argument = {address, major}};

	return hit_find(&h, kernel_events[BRAID_KERNEL_FAULT] - 1) && ns >= h.event->min_ns && hit_selected(&h);
}

/* The cookie says whether it is a major one. */
SEC("perf_event")
int on_fault(struct bpf_perf_event_data *ctx)
{
	struct kernel_start *start = kernel_start_of(bpf_get_current_task_btf(), false);
	bool major = bpf_get_attach_cookie(ctx), in_kernel = !(ctx->regs.cs & 3);
	__u64 address = ctx->addr, now = bpf_ktime_get_ns(), began = now;
	struct braid_stack_ref ref = {0};

	if (start && start->fault_ns && start->fault_at == address)
		began = start->fault_ns;
	if (!fault_selected(address, major, now - began) || !kernel_event_due(BRAID_KERNEL_FAULT, now))
		return 0;
	kernel_event_stack(in_kernel ? ctx : NULL, 0, BRAID_KERNEL_FAULT, &ref);
	return fault_emit(address, major, began, now, &ref);
}

#endif
