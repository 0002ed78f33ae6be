// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The programs of the kernel event `block`: a request belongs to the thread that queues it, or issues it directly, and
 * that thread's stack is taken then. Its completion, in whatever thread or interrupt, emits the event. A kernel may run
 * no program there: a request without a completion is lost when its structure is another one's, or the recording ends.
 */
#ifndef BRAID_BLOCK_BPF_H
#define BRAID_BLOCK_BPF_H

#include "kernel_event.bpf.h"

#define BLOCK_OPERATION 0xff /* REQ_OP_MASK */

/*
 * By the address of the kernel's structure. An entry ends with its request, or when that is merged into another one.
 * Requests that have no event are noted when they are queued, as any thread may issue them.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BRAID_BLOCK_REQUESTS);
	__type(key, __u64);
	__type(value, struct braid_block_request);
} block_requests SEC(".maps");

static __noinline bool block_selected(__u64 sector, __u64 bytes, __u64 operation)
{
	struct hit h = {.argument = {sector, bytes, operation}};

	return hit_find(&h, kernel_events[BRAID_KERNEL_BLOCK] - 1) && hit_selected(&h);
}

static __noinline int block_note(__u64 request, struct braid_block_request *r)
{
	if (bpf_map_update_elem(&block_requests, &request, r, BPF_ANY))
		jvm_event_lost(r->pid, BRAID_JVM_BLOCK);
	return 0;
}

static __noinline bool block_is_long(const struct braid_block_request *r, __u64 now)
{
	__u32 number = kernel_events[BRAID_KERNEL_BLOCK] - 1;
	const struct braid_hit *event = bpf_map_lookup_elem(&hits, &number);

	return event && now - r->issued_ns >= event->min_ns;
}

/* Forgets the request that had the structure before, if its completion was not seen. */
static __noinline int block_replace(__u64 request, const struct braid_block_request *r)
{
	if (!r->left_out && block_is_long(r, bpf_ktime_get_ns()))
		jvm_event_lost(r->pid, BRAID_JVM_BLOCK);
	bpf_map_delete_elem(&block_requests, &request);
	return 0;
}

/* Notes a request of the current thread. `old` is what was noted of its structure; NULL: nothing. */
static __always_inline void block_begins(void *ctx, struct request *rq, const struct braid_block_request *old,
					 bool issued)
{
	__u64 now = bpf_ktime_get_ns(), key = (__u64)rq, id = bpf_get_current_pid_tgid();
	struct braid_block_request r = {.queued_ns = now,
					.issued_ns = issued ? now : 0,
					.sector = rq->__sector,
					.bytes = rq->__data_len,
					.operation = rq->cmd_flags & BLOCK_OPERATION,
					.pid = id >> 32,
					.tid = (__u32)id};

	if (old)
		block_replace(key, old);
	if (!block_selected(r.sector, r.bytes, r.operation) || !kernel_event_due(BRAID_KERNEL_BLOCK, now)) {
		r.left_out = 1;
		if (!issued)
			(void)bpf_map_update_elem(&block_requests, &key, &r, BPF_ANY);
		return;
	}
	kernel_event_stack(ctx, KERNEL_EVENT_OWN_FRAMES, BRAID_KERNEL_BLOCK, &r.ref);
	block_note(key, &r);
}

SEC("tp_btf/block_rq_insert")
int BPF_PROG(on_block_queue, struct request *rq)
{
	__u64 key = (__u64)rq;
	struct braid_block_request *r = bpf_map_lookup_elem(&block_requests, &key);

	if (!r || !r->requeued) /* else it is queued again, by any thread */
		block_begins(ctx, rq, r, false);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(on_block_issue, struct request *rq)
{
	__u64 key = (__u64)rq;
	struct braid_block_request *r = bpf_map_lookup_elem(&block_requests, &key);

	if (!r || (r->issued_ns && !r->requeued)) {
		block_begins(ctx, rq, r, true);
		return 0;
	}
	r->requeued = 0;
	if (r->issued_ns)
		return 0;
	r->issued_ns = bpf_ktime_get_ns();
	r->sector = rq->__sector; /* others may have been merged into it since it was queued */
	r->bytes = rq->__data_len;
	return 0;
}

/* The driver cannot take it now: it is issued again later, and perhaps queued before. */
SEC("tp_btf/block_rq_requeue")
int BPF_PROG(on_block_requeue, struct request *rq)
{
	__u64 key = (__u64)rq;
	struct braid_block_request *r = bpf_map_lookup_elem(&block_requests, &key);

	if (r)
		r->requeued = 1;
	return 0;
}

SEC("tp_btf/block_rq_merge")
int BPF_PROG(on_block_merge, struct request *rq)
{
	__u64 key = (__u64)rq;

	bpf_map_delete_elem(&block_requests, &key);
	return 0;
}

static __noinline int block_emit(const struct braid_block_request *r, struct gendisk *disk, int error)
{
	__u64 now = bpf_ktime_get_ns();
	struct braid_event_kernel *e;

	if (!block_is_long(r, now))
		return 0;
	e = kernel_event_begin(r->pid, BRAID_KERNEL_BLOCK, &r->ref);
	if (!e)
		return 0;
	e->jvm.tid = r->tid;
	e->jvm.sleep = BRAID_OBJECT_NAME << BRAID_SLEEP_OBJECT_SHIFT;
	(void)bpf_probe_read_kernel_str(e->jvm.text, sizeof(disk->disk_name),
					__builtin_preserve_access_index(&disk->disk_name));
	e->jvm.event.start_ns = r->issued_ns;
	e->jvm.event.end_ns = now;
	e->jvm.event.value = r->bytes;
	e->jvm.event.weight = r->issued_ns - r->queued_ns;
	e->jvm.event.number = r->sector;
	e->jvm.event.flags = (__u32)error;
	e->value[BRAID_BLOCK_SECTOR] = r->sector;
	e->value[BRAID_BLOCK_BYTES] = r->bytes;
	e->value[BRAID_BLOCK_OPERATION] = r->operation;
	bpf_ringbuf_submit(e, events_wake());
	return 0;
}

SEC("tp_btf/block_rq_complete")
int BPF_PROG(on_block_end, struct request *rq, int error, unsigned int bytes)
{
	__u64 key = (__u64)rq;
	struct braid_block_request *r = bpf_map_lookup_elem(&block_requests, &key);

	if (!r || bytes < rq->__data_len) /* a part of it */
		return 0;
	if (!r->left_out && r->issued_ns)
		block_emit(r, BPF_CORE_READ(rq, q, disk), error);
	else if (!r->left_out) /* its issue was not seen */
		jvm_event_lost(r->pid, BRAID_JVM_BLOCK);
	bpf_map_delete_elem(&block_requests, &key);
	return 0;
}

#endif
