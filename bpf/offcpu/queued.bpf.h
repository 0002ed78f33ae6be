// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Since when a thread that comes to a CPU has waited for one, by the kernel's own account (struct sched_info). Where
 * nobody asks who woke a thread, no program has to run at its wake-up. offcpu.bpf.h asks.
 */
#ifndef BRAID_QUEUED_BPF_H
#define BRAID_QUEUED_BPF_H

#include "kernel_read.bpf.h"
#include "thread_time.bpf.h"

/* Set before loading: the kernel keeps that account. */
const volatile bool queues_noted;

/* Of each CPU. */
struct queue_clock {
	__u64 lead;    /* of CLOCK_MONOTONIC over the run queue's clock */
	__u64 read_ns; /* when that was found; 0: never */
	__u64 now_ns;  /* the time of the last switch */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct queue_clock);
} queue_clocks SEC(".maps");

/*
 * The run queue's clock was read a moment ago, or up to a tick ago. So a smaller lead is nearer to the truth, and a
 * larger one is trusted as far as the clocks can have drifted apart: by a thousandth.
 */
#define LEAD_GROWS_NS 100
#define LEAD_DRIFT_SHIFT 10

static __always_inline void queue_clock_read(struct queue_clock *c, __u64 clock, __u64 now)
{
	__u64 lead = now - clock;
	__u64 most = c->lead + LEAD_GROWS_NS + ((now - c->read_ns) >> LEAD_DRIFT_SHIFT);

	c->lead = c->read_ns && (__s64)(lead - most) > 0 ? most : lead;
	c->read_ns = now;
}

/*
 * When the CPU switches to `next`. The scheduler has read the run queue's clock when the switch began, and
 * CLOCK_MONOTONIC costs more than all else at a switch that is added up. So that one is read again only after a while,
 * in which the two drift apart by less than a switch takes. The times of a CPU never go back.
 */
#define LEAD_HOLDS_NS 100000

static __always_inline __u64 switch_time(struct task_struct *next)
{
	__u64 clock = queues_noted ? TASK_POINTER(next, se.cfs_rq)->rq->clock : 0, now;
	__u32 zero = 0;
	struct queue_clock *c = clock ? bpf_map_lookup_elem(&queue_clocks, &zero) : NULL;

	if (!c)
		return bpf_ktime_get_ns();
	now = clock + c->lead;
	if (now - c->read_ns >= LEAD_HOLDS_NS) {
		now = bpf_ktime_get_ns();
		queue_clock_read(c, clock, now);
	}
	c->now_ns = later(c->now_ns, now);
	return *(volatile __u64 *)&c->now_ns; /* read again, so that the verifier has one case to follow */
}

/* The current interval of `next`, which was blocked and now comes to this CPU. 0: the kernel does not know. */
static __always_inline __u64 queued_since(const struct braid_thread_time *t, struct task_struct *next, __u64 now)
{
	__u64 queued = next->sched_info.last_queued, since;
	__u32 zero = 0;
	struct queue_clock *c = queued ? bpf_map_lookup_elem(&queue_clocks, &zero) : NULL;

	if (!c || !c->read_ns)
		return 0;
	since = queued + c->lead -
		(next->sched_info.run_delay - t->delay_ns); /* it may have been moved while it waited */
	if ((__s64)(since - t->now.start_ns) < 0)
		return t->now.start_ns;
	return (__s64)(since - now) > 0 ? now : since;
}

#endif
