// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* The program of CPU sampling: at every tick of a perf event it takes the whole stack of the running thread. */
#ifndef BRAID_SAMPLE_BPF_H
#define BRAID_SAMPLE_BPF_H

#include "stack.bpf.h"

/* Walks the user's part of the stack. Returns the bytes that were sent for a deferred unwind; 0: there will be none. */
static __always_inline __u32 sample_user(struct sample *s, struct task_struct *task)
{
	__u32 bytes;

	s->leaf = (struct deferred_regs){.pc = s->w.pc,
					 .sp = s->w.sp,
					 .fp = s->w.fp,
					 .rax = s->w.rax,
					 .rbx = s->w.rbx,
					 .r10 = s->w.r10,
					 .r13 = s->w.r13,
					 .slot = s->w.slot};
	stack_walk_user(s);
	if (!stack_in_execve(s, task) && s->w.end && deferred_useful(s->known ? &s->process : NULL, s->w.end)) {
		bytes = deferred_send(&s->event, &s->leaf, s->frames, s->kernel_depth, s->w.end);
		if (bytes)
			return bytes;
	}
	stack_close(s);
	return 0;
}

/* Sends the sample, with its frames if they are new. Returns the bytes that were sent; 0: it is lost. */
static __always_inline __u32 sample_send(struct sample *s, struct braid_counters *c)
{
	int sent = stack_send(s, BRAID_EVENT_SAMPLE);

	if (sent < 0) {
		COUNT(c, samples_lost, 1);
		return 0;
	}
	COUNT(c, stacks_sent, (__u64)sent);
	return s->event.hdr.size;
}

/*
 * A program that cannot be preempted takes a sample in four steps: sample_begin(), which is NULL when there is
 * nothing to record; the kernel's part of the stack; the user registers; and always sample_take(). A tick may
 * interrupt another program that takes a stack.
 */
static __always_inline struct sample *sample_begin(void)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct braid_counters *c = counters_get();
	struct braid_process *p;
	struct sample *s;
	__u32 slot;

	if (!c || (__u32)bpf_get_current_pid_tgid() == 0) /* the idle task */
		return NULL;
	p = bpf_map_lookup_elem(&processes, &tgid);
	if (!p && !system_wide)
		return NULL;
	slot = bpf_get_smp_processor_id();
	s = slot_at(slot);
	if (!s)
		return NULL;
	if (s->busy) {
		c->samples_lost++;
		return NULL;
	}
	s->busy = 1;
	s->w.slot = slot;
	barrier();
	stack_reset(s, p, now);
	return s;
}

/*
 * Completes the sample in the slot, as stack_take() does for events. Returns the bytes that were sent; 0: it is lost.
 * The programs that can be preempted call it, too.
 */
__noinline int sample_take(__u32 slot, bool user)
{
	struct braid_counters *c = counters_get();
	struct sample *s = slot_at(slot);
	__u32 bytes = 0;

	if (!s)
		return 0;
	if (c) {
		COUNT(c, frames_kernel, s->depth);
		COUNT(c, samples, 1);
		if (user)
			bytes = sample_user(s, bpf_get_current_task_btf());
		if (!bytes)
			bytes = sample_send(s, c);
		COUNT(c, frames_java, s->w.java);
		COUNT(c, frames_native, s->w.native);
		if (c->samples % WALK_TIMED == 0) /* reading the clock costs a part of the time measured */
			COUNT(c, walk_ns, (bpf_ktime_get_ns() - s->event.hdr.time_ns) * WALK_TIMED);
	}
	slot_release(s);
	return (int)bytes;
}

/* Takes the user registers of a tick in user mode. */
static __always_inline void sample_event_regs(const struct bpf_perf_event_data *ctx, struct braid_walk *w)
{
	w->pc = ctx->regs.ip;
	w->sp = ctx->regs.sp;
	w->fp = ctx->regs.bp;
	w->rax = ctx->regs.ax;
	w->rbx = ctx->regs.bx;
	w->r10 = ctx->regs.r10;
	w->r13 = ctx->regs.r13;
}

/* Takes the kernel's part of the stack, and the user registers; false when there are none. */
static __always_inline bool sample_begin_stack(struct bpf_perf_event_data *ctx, struct sample *s)
{
	if (ctx->regs.cs & 3) {
		sample_event_regs(ctx, &s->w);
		/* Keeps clang from sharing loads with other registers: the verifier refuses a moved context pointer. */
		barrier();
		stack_leave_probe(s->w.slot, false);
		return true;
	}
	stack_walk_kernel(ctx, s);
	return stack_entry_regs(bpf_get_current_task_btf(), &s->w);
}

SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	struct sample *s = sample_begin();

	return s ? sample_take(s->w.slot, sample_begin_stack(ctx, s)) : 0;
}

#endif
