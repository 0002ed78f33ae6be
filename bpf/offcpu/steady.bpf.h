// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Threads that leave the CPU where they left it a moment ago. Where stacks are taken when a time begins, the thread's
 * entry still has all that was found then: the reason, the limits and the stack. offcpu.bpf.h asks.
 */
#ifndef BRAID_STEADY_BPF_H
#define BRAID_STEADY_BPF_H

#include "offcpu_filter.bpf.h"
#include "stack/reuse.bpf.h"
#include "sums.bpf.h"

/* Whether the interval that begins has the stack, and the limits, of a moment ago. */
static __always_inline bool steady_stack(struct braid_thread_time *t, struct task_struct *task, struct pt_regs *entry,
					 __u32 place, __u64 now)
{
	bool adds = sums_expected(t, now);
	__u64 holds_ns = adds ? REUSE_SUM_NS : REUSE_EVENT_NS;
	const struct stack_reuse *r;

	if (t->min_ns == NEVER)
		return false;
	r = reuse_recent(reuse_key(task, entry, place, REUSE_SLEEPER), task, entry, now - holds_ns);
	if (!r || !(adds || stack_is_sent(r->ref.stack)))
		return false;
	t->start = r->ref;
	t->steady.until_ns = r->read_ns + holds_ns;
	if (adds && offcpu_sums == BRAID_SUMS_FLOOD && t->steady.until_ns > t->sums_until)
		t->steady.until_ns = t->sums_until;
	return true;
}

/* The filter cannot select the interval that begins, so it has no stack. */
static __always_inline void steady_unselected(struct braid_thread_time *t, __u64 now)
{
	if (!offcpu_filters_files)
		t->steady.until_ns = now + REUSE_SUM_NS;
}

/*
 * Notes where the thread leaves the CPU now. What the reason depends on beside this may change meanwhile: whether an
 * uninterruptible sleep is for a device, and which file a poll is about.
 */
static __always_inline void steady_note(struct braid_thread_time *t, struct pt_regs *entry, __u32 state)
{
	if (state & TASK_UNINTERRUPTIBLE || state > 0xffff || call_polls_one(entry)) {
		steady_forget(t);
		return;
	}
	t->steady.pc = entry->ip;
	t->steady.sp = entry->sp;
	t->steady.fp = entry->bp;
	t->steady.argument = entry->di;
	t->steady.call = (__u32)entry->orig_ax;
	t->steady.state = (__u16)state;
	t->steady.from = (__u16)t->now.from;
}

/* Whether that is so again, and all that was found holds. */
static __always_inline bool steady_holds(const struct braid_thread_time *t, struct pt_regs *entry, __u32 state,
					 __u64 now)
{
	const struct braid_steady *s = &t->steady;

	if ((__s64)(s->until_ns - now) <= 0 || s->state != state || t->pending.start_ns || s->pc != entry->ip ||
	    s->sp != entry->sp || s->fp != entry->bp || s->argument != entry->di || s->call != (__u32)entry->orig_ax)
		return false;
	if (offcpu_filtered && s->from != (__u16)bpf_get_smp_processor_id())
		return false;
	return t->min_ns == NEVER || sums_expected(t, now) || stack_is_sent(t->start.stack);
}

/* What is not the same in the thread's next interval. */
static __always_inline void steady_begin(struct braid_thread_time *t, __u32 state, __u64 now)
{
	thread_time_ran(t, now);
	t->now.ready_ns = state ? 0 : now;
	t->now.from = bpf_get_smp_processor_id();
	t->now.flags &= ~BRAID_OFFCPU_SHORT;
	t->now.irq = t->now.selected = t->now.polled = 0;
	t->now.vthread = t->vthread;
	t->now.waker_pid = t->now.waker_tid = 0;
}

#endif
