// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* The program that samples at every n-th hit of a kernel tracepoint. It is loaded only with such an event. */
#ifndef BRAID_TRACEPOINT_BPF_H
#define BRAID_TRACEPOINT_BPF_H

#include "sample.bpf.h"

const volatile __u64 tracepoint_period = 1;

/* Hits of recorded processes since the last sample. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} tracepoint_hits SEC(".maps");

static __always_inline bool tracepoint_due(void)
{
	__u32 zero = 0;
	__u64 *hits = bpf_map_lookup_elem(&tracepoint_hits, &zero);

	if (!hits || ++*hits < tracepoint_period)
		return false;
	*hits = 0;
	return true;
}

SEC("tracepoint")
int on_tracepoint(void *ctx)
{
	struct sample *s = sample_begin();

	if (!s)
		return 0;
	if (!tracepoint_due()) {
		slot_release(s);
		return 0;
	}
	stack_walk_kernel(ctx, s);
	return sample_take(s->w.slot, stack_entry_regs(bpf_get_current_task_btf(), &s->w));
}

#endif
