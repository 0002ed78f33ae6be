// SPDX-License-Identifier: Apache-2.0
/*
 * What a time off the CPU adds to the sums of its thread. The eBPF programs keep them when one ends, and the collector
 * completes them by those that go on when the recording ends.
 */
#ifndef BRAID_INTERVAL_H
#define BRAID_INTERVAL_H

#include <braid/event.h>

/* How long the thread could run before it did. */
static inline __u64 braid_interval_ready(const struct braid_interval *i)
{
	__u64 since = i->ready_ns > i->start_ns ? i->ready_ns : i->start_ns;

	return i->end_ns > since ? i->end_ns - since : 0;
}

/* Counts an interval that is not emitted. */
static inline void braid_interval_count(struct braid_thread_time *t, const struct braid_interval *i)
{
	__u32 class = BRAID_OFFCPU_CLASS(i->flags);
	__u64 ready = t->since_ns && class != BRAID_OFFCPU_RUNNABLE ? braid_interval_ready(i) : 0;

	if (class >= BRAID_OFFCPU_CLASSES)
		return;
	t->counted[class]++;
	t->counted_ns[class] += i->end_ns - i->start_ns - ready;
	t->counted_ns[BRAID_OFFCPU_RUNNABLE] += ready;
}

#endif
