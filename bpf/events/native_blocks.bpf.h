// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Native allocations that an allocator samples by itself, and reports by two USDT probes: alloc(address, bytes, bytes
 * that it represents) and free(address). They become events as an agent's samples do. What was not freed is kept here.
 */
#ifndef BRAID_NATIVE_BLOCKS_BPF_H
#define BRAID_NATIVE_BLOCKS_BPF_H

#include "hits.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set at load */
	__type(key, struct braid_native_key);
	__type(value, struct braid_native_block);
} native_blocks SEC(".maps");

/*
 * How many of these a program has. It is that of a program, not of a process: the collector hears of an exec when the
 * next program has begun to allocate.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set at load */
	__type(key, struct braid_native_program);
	__type(value, struct braid_native_count);
} native_counts SEC(".maps");

static __always_inline struct braid_native_program native_program(void)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return (struct braid_native_program){.pid = task->tgid, .number = task->self_exec_id};
}

/* JVMs with an agent sample by that. */
static __always_inline bool native_wanted(__u32 tgid, __u32 number)
{
	return hit_event(number) && slot_of(tgid) == BRAID_MAX_JVMS;
}

static __always_inline void native_stack(struct pt_regs *ctx, __u32 tgid, __u32 number, struct braid_stack_ref *ref)
{
	struct sample *s = stack_begin(bpf_map_lookup_elem(&processes, &tgid));
	__u64 began;
	bool user;

	if (!s)
		return;
	began = s->event.hdr.time_ns;
	user = stack_entry_regs(bpf_get_current_task_btf(), &s->w);
	s->w.pc = ctx->ip;
	(void)stack_take(s->w.slot, user, ref);
	hit_charge(number, began, tgid);
}

/* False: it is counted as lost. */
static __always_inline bool native_emit(struct pt_regs *ctx, __u32 tgid, __u32 number,
					const struct braid_native_block *b)
{
	struct braid_stack_ref ref = {0};
	struct braid_event_jvm_event *e;

	native_stack(ctx, tgid, number, &ref);
	e = jvm_event_begin(tgid, BRAID_JVM_MALLOC, &ref);
	if (!e)
		return false;
	e->source = BRAID_SOURCE_KERNEL;
	e->event.start_ns = e->event.end_ns = b->time_ns;
	e->event.value = b->bytes;
	e->event.weight = b->weight;
	e->event.number = b->number;
	bpf_ringbuf_submit(e, events_wake());
	return true;
}

/* False: there is no room for it. An address that is known already was freed without a hit. */
static __always_inline bool native_keep(const struct braid_native_key *key, const struct braid_native_block *b)
{
	struct braid_native_program of = key->of;
	struct braid_native_count none = {.since_ns = b->time_ns}, *count = bpf_map_lookup_elem(&native_counts, &of);

	if (!count) {
		(void)bpf_map_update_elem(&native_counts, &of, &none, BPF_NOEXIST);
		count = bpf_map_lookup_elem(&native_counts, &of);
	}
	if (!bpf_map_update_elem(&native_blocks, key, b, BPF_EXIST))
		return true;
	if (!count || count->blocks >= BRAID_NATIVE_SHARE || bpf_map_update_elem(&native_blocks, key, b, BPF_NOEXIST))
		return false;
	__sync_fetch_and_add(&count->blocks, 1);
	return true;
}

SEC("usdt")
int on_native_alloc(struct pt_regs *ctx)
{
	__u32 number = (__u32)bpf_usdt_cookie(ctx), tgid = bpf_get_current_pid_tgid() >> 32;
	struct braid_hit_count *c = bpf_map_lookup_elem(&hit_counts, &number);
	struct braid_native_key key = {.of = native_program()};
	struct braid_native_block b = {.time_ns = bpf_ktime_get_ns()};

	probe_on_thread_stack(ctx, &no_programs);
	if (!c || !native_wanted(tgid, number) || bpf_usdt_arg(ctx, 0, (long *)&key.address) || !key.address ||
	    bpf_usdt_arg(ctx, 1, (long *)&b.bytes) || bpf_usdt_arg(ctx, 2, (long *)&b.weight))
		return 0;
	b.number = (__u64)(bpf_get_smp_processor_id() + 1) << 40 | (__sync_fetch_and_add(&c->hits, 1) + 1);
	if (!hit_affordable(number, b.time_ns, tgid)) {
		hit_lost(c, tgid, BRAID_JVM_MALLOC);
		return 0;
	}
	if (native_emit(ctx, tgid, number, &b) && !native_keep(&key, &b))
		jvm_event_lost(tgid, BRAID_JVM_UNFREED);
	return 0;
}

SEC("usdt")
int on_native_free(struct pt_regs *ctx)
{
	struct braid_native_key key = {.of = native_program()};
	struct braid_native_program of = key.of;
	struct braid_native_count *count;

	probe_on_thread_stack(ctx, &no_programs);
	if (bpf_usdt_arg(ctx, 0, (long *)&key.address) || bpf_map_delete_elem(&native_blocks, &key))
		return 0;
	count = bpf_map_lookup_elem(&native_counts, &of);
	if (count && count->blocks)
		__sync_fetch_and_add(&count->blocks, -1);
	return 0;
}

#endif
