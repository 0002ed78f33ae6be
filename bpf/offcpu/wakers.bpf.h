// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Who wakes a thread: another thread, or an interrupt in the context of whatever runs. eBPF cannot ask on every kernel
 * whether it is in an interrupt, so programs note it for each CPU. waking.bpf.h asks.
 */
#ifndef BRAID_WAKERS_BPF_H
#define BRAID_WAKERS_BPF_H

#include "thread_time.bpf.h"

/* Set before loading: the programs below run. */
const volatile bool irqs_noted;

/* What runs on a CPU on top of its thread. A handler of a softirq or a device is not preempted by one of its kind. */
struct irq_note {
	__u32 device; /* BRAID_IRQ_*; 0: none */
	__u32 timer;
	__u32 soft;
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct irq_note);
} irq_notes SEC(".maps");

static __always_inline struct irq_note *irq_note_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&irq_notes, &zero);
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(on_irq, int irq)
{
	struct irq_note *n = irq_note_here();

	if (n)
		n->device = BRAID_IRQ_DEVICE | ((__u32)irq & BRAID_IRQ_NUMBER);
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(on_irq_end)
{
	struct irq_note *n = irq_note_here();

	if (n)
		n->device = 0;
	return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_timer)
{
	struct irq_note *n = irq_note_here();

	if (n)
		n->timer = BRAID_IRQ_TIMER;
	return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(on_timer_end)
{
	struct irq_note *n = irq_note_here();

	if (n)
		n->timer = 0;
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq, unsigned int vector)
{
	struct irq_note *n = irq_note_here();

	if (n)
		n->soft = BRAID_IRQ_SOFT | (vector & BRAID_IRQ_NUMBER);
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_end)
{
	struct irq_note *n = irq_note_here();

	if (n)
		n->soft = 0;
	return 0;
}

/*
 * True if the current thread's system call can wake the sleeper. For a futex the addresses must match; otherwise the
 * call must be of a kind that others wait for.
 */
static __always_inline bool call_wakes(struct pt_regs *entry, const struct braid_thread_time *t, __u32 tgid)
{
	__u32 sleeps_in = t->now.flags & BRAID_OFFCPU_SYSCALL;

	switch (entry->orig_ax) {
	case NR_FUTEX:
	case NR_FUTEX_WAKE:
		return t->now.futex && tgid == t->pid && (entry->di == t->now.futex || entry->r8 == t->now.futex);
	case NR_READ:
	case NR_WRITE:
	case NR_CLOSE:
	case NR_READV:
	case NR_WRITEV:
	case NR_SENDFILE:
	case NR_SENDTO:
	case NR_RECVFROM:
	case NR_SENDMSG:
	case NR_RECVMSG:
	case NR_SHUTDOWN:
	case NR_SPLICE:
	case NR_SENDMMSG:
		return !t->now.futex && sleeps_in != NR_NANOSLEEP && sleeps_in != NR_CLOCK_NANOSLEEP;
	default:
		return false;
	}
}

/* A softirq delivers what a thread sends to this same machine, in the middle of the thread's call. */
static __always_inline bool call_sends(struct pt_regs *entry)
{
	switch (entry->orig_ax) {
	case NR_WRITE:
	case NR_CLOSE:
	case NR_WRITEV:
	case NR_SENDFILE:
	case NR_CONNECT:
	case NR_SENDTO:
	case NR_SENDMSG:
	case NR_SHUTDOWN:
	case NR_SPLICE:
	case NR_SENDMMSG:
		return true;
	default:
		return false;
	}
}

/* What wakes the thread: BRAID_IRQ_*; 0: the current thread; WAKER_UNKNOWN. */
#define WAKER_UNKNOWN (~0U)

static __always_inline __u32 waker_of(struct task_struct *task, const struct braid_thread_time *t)
{
	const struct irq_note *n = irq_note_here();
	bool kernel = task->flags & PF_KTHREAD;

	if (!irqs_noted)
		return !kernel && call_wakes((struct pt_regs *)bpf_task_pt_regs(task), t, task->tgid) ? 0
												      : WAKER_UNKNOWN;
	if (!n)
		return WAKER_UNKNOWN;
	if (n->device || n->timer)
		return n->device ?: n->timer;
	return n->soft && !kernel && call_sends((struct pt_regs *)bpf_task_pt_regs(task)) ? 0 : n->soft;
}

#endif
