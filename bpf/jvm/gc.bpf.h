// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Garbage collections, by probes where HotSpot reports them to its own flight recorder (gcTrace.hpp, gcTimer.hpp): a
 * few hits for each collection, none between. probes.bpf.h calls it; the collector assembles the hits into events.
 */
#ifndef BRAID_GC_BPF_H
#define BRAID_GC_BPF_H

#include "jvm_event.bpf.h"

#include <braid/probe.h>

/* The cause in the VM's counter for jstat, which is set before a collection reports itself. */
static __always_inline void gc_cause(char *to, __u32 size)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, slot;
	struct braid_process *process = bpf_map_lookup_elem(&processes, &tgid);
	struct braid_jvm *jvm;

	if (!process || !process->jvm)
		return;
	slot = process->jvm - 1;
	jvm = bpf_map_lookup_elem(&jvms, &slot);
	if (jvm && jvm->gc_cause)
		(void)bpf_probe_read_user_str(to, size, (const void *)jvm->gc_cause);
}

/* GCHeapSummary (gcHeapSummary.hpp): vtable, a VirtualSpaceSummary of three addresses, bytes used. */
static __always_inline __u64 gc_used(__u64 summary)
{
	__u64 words[5];

	if (bpf_probe_read_user(words, sizeof(words), (const void *)summary) || words[1] > words[2] ||
	    words[2] > words[3] || words[4] > words[3] - words[1])
		return 0;
	return words[4];
}

static __always_inline void gc_probe(struct pt_regs *ctx, __u32 probe)
{
	const struct braid_stack_ref none = {0};
	struct braid_event_jvm_event *e = jvm_event_begin(bpf_get_current_pid_tgid() >> 32, BRAID_JVM_GC_CYCLE, &none);

	if (!e)
		return;
	e->source = BRAID_SOURCE_PROBE;
	e->event.name = probe;
	e->event.number = ctx->di;
	if (probe == BRAID_PROBE_GC_BEGIN) {
		gc_cause(e->text, sizeof(e->text));
	} else if (probe == BRAID_PROBE_GC_HEAP) {
		e->event.detail = (__u32)ctx->si;
		e->event.value = gc_used(ctx->dx);
	} else if (probe == BRAID_PROBE_GC_PAUSE || probe == BRAID_PROBE_GC_PHASE) {
		e->event.weight = ctx->si;
		(void)bpf_probe_read_user_str(e->text, sizeof(e->text), (const void *)ctx->si);
	}
	bpf_ringbuf_submit(e, events_wake());
}

#endif
