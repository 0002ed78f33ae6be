// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The program that drains the agents' rings: it copies each record (the JVM may change it at any time), checks the
 * copy, applies what the kernel side must know, and forwards it. The collector runs it for one ring per call and
 * empties `records` between calls.
 */
#ifndef BRAID_DRAIN_BPF_H
#define BRAID_DRAIN_BPF_H

#include "maps.bpf.h"

#include "stack/java_threads.bpf.h"

#include <braid/names.h>

struct drain_buffer {
	struct braid_event_agent event;
	__u8 record[BRAID_REC_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct drain_buffer);
} drain_buffers SEC(".maps");

/* The state of one drain. */
struct drain_state {
	__u32 slot;
	__u32 generation;
	__u32 stopped;
	__u32 reserved;
	__s64 budget; /* bytes of the ring that may still be read */
	__u64 records;
	__u64 bad;  /* refused: size out of range */
	__u64 lost; /* no room in `records` */
};

static __always_inline void drain_layout(struct drain_state *d, const struct drain_buffer *b)
{
	const struct braid_rec_layout *r = (const struct braid_rec_layout *)b->record;
	struct braid_jvm *jvm = bpf_map_lookup_elem(&jvms, &d->slot);

	if (!jvm || r->hdr.size < sizeof(*r))
		return;
	/* Memos may be of steps that would have been others with this layout. */
	if (jvm->layout.vthreads.enter_start != r->layout.vthreads.enter_start ||
	    jvm->layout.vthreads.yield_start != r->layout.vthreads.yield_start)
		__sync_fetch_and_add(&jvm->epoch, 1);
	jvm->layout = r->layout;
	jvm->statics = r->statics;
	if (!braid_layout_fits(&r->layout))
		jvm->layout.flags &= ~BRAID_LAYOUT_WALKABLE;
}

static __always_inline void drain_names(const struct drain_state *d, const struct drain_buffer *b)
{
	const struct braid_rec_names *r = (const struct braid_rec_names *)b->record;
	struct braid_jvm *jvm = bpf_map_lookup_elem(&jvms, &d->slot);

	if (!jvm || r->hdr.size < sizeof(*r))
		return;
	jvm->class_unloads = r->names.class_unloads;
	jvm->code_unloads = r->names.code_unloads;
	jvm->gc_cause = r->names.gc_cause;
}

static __always_inline void drain_unload(const struct drain_state *d, const struct braid_rec *r)
{
	struct braid_jvm *jvm = bpf_map_lookup_elem(&jvms, &d->slot);

	if (!jvm || (r->kind == BRAID_REC_CODE_UNLOAD && jvm->code_unloads)) /* the JVM's own counter is read instead */
		return;
	__sync_fetch_and_add(&jvm->epoch, 1);
	if (r->kind == BRAID_REC_CODE_UNLOAD)
		jvm->code_unload_ns = bpf_ktime_get_ns();
}

/* Applies the record in the buffer and forwards it. Returns 1 to stop draining. */
static __noinline int drain_forward(struct drain_state *d, struct drain_buffer *b)
{
	struct braid_rec *r = (struct braid_rec *)b->record;
	__u32 size = r->size;

	if (size > BRAID_REC_MAX)
		return 0;
	if (r->kind == BRAID_REC_LAYOUT)
		drain_layout(d, b);
	else if (r->kind == BRAID_REC_NAMES)
		drain_names(d, b);
	else if (r->kind == BRAID_REC_CODE_UNLOAD || r->kind == BRAID_REC_CLASS_UNLOAD)
		drain_unload(d, r);
	else
		java_thread_drain(java_thread_jvm(d->slot, d->generation), r);
	b->event.hdr.kind = BRAID_EVENT_AGENT;
	b->event.hdr.size = sizeof(b->event) + size;
	b->event.hdr.time_ns = r->time_ns;
	b->event.slot = d->slot;
	b->event.generation = d->generation;
	if (bpf_ringbuf_output(&records, b, sizeof(b->event) + size, BPF_RB_NO_WAKEUP))
		d->lost++;
	/* Stops while the longest record still fits. */
	if (bpf_ringbuf_query(&records, BPF_RB_RING_SIZE) - bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) <
	    2 * (sizeof(struct drain_buffer) + 8))
		d->stopped = 1;
	return d->stopped;
}

/* In the ring a record takes its size and a header of 8 bytes. */
static __always_inline void drain_spend(struct drain_state *d, __u32 size)
{
	d->budget -= ((__u64)size + 8 + 7) & ~7ULL;
	if (d->budget <= 0)
		d->stopped = 1;
}

/* Nothing else may happen while the ring's dynptr is live: older verifiers cannot spill it. */
static long drain_record(struct bpf_dynptr *ring, void *ctx)
{
	struct drain_state *d = ctx;
	struct drain_buffer *b;
	struct braid_rec *r;
	__u32 zero = 0, size;

	b = bpf_map_lookup_elem(&drain_buffers, &zero);
	if (!b)
		return 1;
	d->records++;
	r = (struct braid_rec *)b->record;
	if (bpf_dynptr_read(r, sizeof(*r), ring, 0, 0)) {
		d->bad++;
		drain_spend(d, 0);
		return d->stopped;
	}
	size = r->size;
	barrier_var(size); /* keeps clang from merging the comparisons: the verifier follows only separate ones */
	if (size < sizeof(*r))
		size = 0;
	barrier_var(size);
	if (!size || size > BRAID_REC_MAX || bpf_dynptr_read(r, size, ring, 0, 0)) {
		d->bad++;
		drain_spend(d, sizeof(*r));
		return d->stopped;
	}
	drain_spend(d, size);
	r->size = size; /* the second copy may differ from the first */
	return drain_forward(d, b);
}

SEC("syscall")
int drain(struct braid_drain *arg)
{
	struct drain_state d = {.slot = arg->slot, .budget = arg->budget};
	struct braid_jvm *jvm = bpf_map_lookup_elem(&jvms, &d.slot);
	void *ring = bpf_map_lookup_elem(&rings, &d.slot);
	long n;

	if (!jvm || !ring)
		return -2; /* ENOENT */
	d.generation = jvm->generation;
	n = bpf_user_ringbuf_drain(ring, drain_record, &d, BPF_RB_NO_WAKEUP);
	arg->records = d.records;
	arg->bad = d.bad;
	arg->lost = d.lost;
	arg->budget = d.budget > 0 ? d.budget : 0;
	arg->more = d.stopped;
	return n < 0 ? (int)n : 0;
}

#endif
