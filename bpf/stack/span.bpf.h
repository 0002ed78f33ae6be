// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Finds the request, a span, that the walked thread serves, and sends its ids. stack.bpf.h calls it. */
#ifndef BRAID_SPAN_BPF_H
#define BRAID_SPAN_BPF_H

#include "slot.bpf.h"

#include <braid/context.h>

/* Spans that the collector has received: slot key % size contains span_mark(). The collector clears it. */
#define SENT_SPANS (1 << 14)
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SENT_SPANS);
	__type(key, __u32);
	__type(value, __u64);
} sent_spans SEC(".maps");

#define DTV_ENTRY 16		    /* dtv_t of glibc */
#define DTV_NONE 0xffffffffffffffff /* this thread has not used the variable yet (TLS_DTV_UNALLOCATED) */

/* Where a thread's variable was found; slot tid % size. */
struct span_place {
	__u64 variable;
	__u64 check; /* span_place_check() of it, which no other thread's variable has, nor a value that is half written */
};

#define SPAN_PLACES 4096
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SPAN_PLACES);
	__type(key, __u32);
	__type(value, struct span_place);
} span_places SEC(".maps");

/* A thread's block of a module stays where it is while the thread lives and the module is loaded. */
static __always_inline __u64 span_place_check(const struct sample *s, struct task_struct *task, __u64 variable)
{
	const struct braid_context_place *c = &s->process.context;
	__u64 check = braid_mix(variable, (__u64)(__u32)c->offset << 32 | c->module);

	check = braid_mix(braid_mix(check, task->thread.fsbase), task->start_time);
	return braid_mix(check, (__u64)s->generation << 32 | (__u32)task->pid);
}

/*
 * The address of the variable in the thread's block of a module; 0: it has none yet. The thread pointer leads to the
 * DTV (tcbhead_t), whose number of entries is in front of it: a thread that is older than a module may have fewer.
 */
static __noinline __u64 span_variable_of_module(struct sample *s, __u64 self)
{
	__u64 dtv, block;
	__u32 module;

	if (!s)
		return 0;
	module = s->process.context.module;
	if (!module || module > BRAID_CONTEXT_MODULES ||
	    bpf_probe_read_user(&dtv, sizeof(dtv), (const void *)(self + 8)) ||
	    bpf_probe_read_user(s->window, (module + 2) * DTV_ENTRY, (const void *)(dtv - DTV_ENTRY)) ||
	    s->window[0] < module)
		return 0;
	block = s->window[(module + 1) * 2 % WINDOW_WORDS];
	return block && block != DTV_NONE ? block + s->process.context.offset : 0;
}

/* The address of the thread's variable; 0: it has none yet. Reading the DTV takes two reads of user memory. */
static __noinline __u64 span_variable(struct sample *s)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 self = task->thread.fsbase, variable;
	__u32 slot = (__u32)task->pid % SPAN_PLACES;
	struct span_place *place;

	if (!s)
		return 0;
	if (s->process.context.module == BRAID_CONTEXT_STATIC)
		return self + s->process.context.offset;
	place = bpf_map_lookup_elem(&span_places, &slot);
	if (!place)
		return 0;
	variable = place->variable;
	if (variable && s->generation && place->check == span_place_check(s, task, variable))
		return variable;
	variable = span_variable_of_module(s, self);
	if (variable) {
		place->variable = variable;
		place->check = span_place_check(s, task, variable);
	}
	return variable;
}

#define NEAR 64 /* bytes before and after the variable that are read with it: a record is often there, too */

/*
 * Reads the record of a thread that carries no virtual thread, and its address. A read of user memory takes as long for
 * some words as for one.
 */
static __always_inline bool span_of_thread(struct sample *s, struct braid_context_record *r, __u64 *address)
{
	__u64 variable = span_variable(s), from = variable - NEAR, at = 0;
	const __u32 *words;

	if (!variable)
		return false;
	if (bpf_probe_read_user(s->window, 2 * NEAR, (const void *)from)) {
		if (bpf_probe_read_user(&at, sizeof(at), (const void *)variable))
			return false;
		*address = at;
		return at && !bpf_probe_read_user(r, sizeof(*r), (const void *)at);
	}
	at = s->window[NEAR / 8];
	*address = at;
	if (!at)
		return false;
	if (at - from > 2 * NEAR - sizeof(*r))
		return !bpf_probe_read_user(r, sizeof(*r), (const void *)at);
	words = (const __u32 *)((const __u8 *)s->window + ((at - from) & (2 * NEAR - 1)));
	for (__u32 i = 0; i < sizeof(*r) / 4; i++)
		((__u32 *)r)[i] = words[i];
	return true;
}

/*
 * Reads the record with the number of the virtual thread whose frames were walked. Its bucket may be changing for
 * another thread. The number is therefore read again: the thread itself stands still, so if another thread had taken
 * its entry meanwhile, the number would be another one. The attributes follow a record that would be at *address, as
 * those of a thread do, and are its own if *entry still has the number after they have been read.
 */
static __always_inline bool span_of_virtual(struct sample *s, struct braid_context_record *r, __u64 *address,
					    __u64 *entry)
{
	__u64 number = s->event.vthread, bucket = number % BRAID_CONTEXT_BUCKETS, at = s->process.context.table, again;
	const struct braid_context_entry *e = (const struct braid_context_entry *)s->window;

	at += bucket * sizeof(struct braid_context_bucket);
	if (!number || bpf_probe_read_user(s->window, sizeof(struct braid_context_bucket), (const void *)at))
		return false;
	for (__u32 i = 0; i < BRAID_CONTEXT_WAYS; i++) {
		if (e[i].thread != number)
			continue;
		*r = e[i].record;
		*address = s->process.context.table + BRAID_CONTEXT_ATTRIBUTES_AT(i, bucket) - sizeof(*r);
		*entry = at + i * sizeof(*e);
		return !bpf_probe_read_user(&again, sizeof(again), (const void *)*entry) && again == number;
	}
	return false;
}

/* What sent_spans has of a span: it differs for other attributes, as far as their size shows that. */
static __always_inline __u64 span_mark(__u64 key, const struct braid_context_record *r)
{
	return key ^ (__u64)r->attrs_size << 1;
}

/* Whether the virtual thread still has its entry. */
static __always_inline bool span_is_entry(const struct sample *s, __u64 entry)
{
	__u64 number;

	return !bpf_probe_read_user(&number, sizeof(number), (const void *)entry) && number == s->event.vthread;
}

/*
 * Puts the span into an event in the slot's window; returns its size. `address`: of the record; `entry`: that of a
 * virtual thread, or 0.
 */
static __always_inline __u32 span_event(struct sample *s, const struct braid_context_record *r, __u64 key,
					__u64 address, __u64 entry)
{
	struct braid_event_span *e = (struct braid_event_span *)s->window;
	__u32 bytes = r->attrs_size;

	if (bytes > BRAID_CONTEXT_ATTRIBUTES)
		bytes = BRAID_CONTEXT_ATTRIBUTES;
	e->hdr.kind = BRAID_EVENT_SPAN;
	e->hdr.time_ns = s->event.hdr.time_ns;
	e->key = key;
	e->pid = s->tgid;
	e->attrs_size = r->attrs_size;
	__builtin_memcpy(e->trace, r->trace, sizeof(e->trace));
	__builtin_memcpy(e->span, r->span, sizeof(e->span));
	if (bytes && (bpf_probe_read_user(e + 1, bytes, (const void *)(address + sizeof(*r))) ||
		      (entry && !span_is_entry(s, entry))))
		bytes = 0;
	e->hdr.size = sizeof(*e) + bytes;
	return e->hdr.size;
}

/* Sends the span, if it is new. The key; 0: the record is of none. A global function, as span_take(). */
__noinline __u64 span_send(__u32 slot, const struct braid_context_record *r, __u64 address, __u64 entry)
{
	__u64 key, mark, *sent;
	struct sample *s = slot_at(slot);
	__u32 at, size;

	if (!s || !r)
		return 0;
	key = braid_context_key(r, s->tgid);
	if (!key)
		return 0;
	mark = span_mark(key, r);
	at = (__u32)(key >> 20) % SENT_SPANS;
	sent = bpf_map_lookup_elem(&sent_spans, &at);
	if (!sent || *sent == mark)
		return key;
	size = span_event(s, r, key, address, entry);
	if (size > sizeof(struct braid_event_span) + BRAID_CONTEXT_ATTRIBUTES)
		return key;
	if (bpf_ringbuf_output(&events, s->window, size, events_wake()))
		return key; /* its event will hardly find room either, or is counted without span */
	*sent = mark;
	s->span_bytes = size;
	return key;
}

/* The key of the span of the walked thread; 0: none. A global function, which the verifier checks once. */
__noinline __u64 span_take(__u32 slot)
{
	struct braid_context_record r __attribute__((aligned(8))) = {0};
	struct sample *s = slot_at(slot);
	__u64 address = 0, entry = 0;
	bool found;

	if (!s)
		return 0;
	/* The TLS of a carrier says nothing about the virtual thread that it carries. */
	if (s->carries)
		found = s->process.context.table && span_of_virtual(s, &r, &address, &entry);
	else
		found = span_of_thread(s, &r, &address);
	s->window_bytes = 0;
	return found ? span_send(slot, &r, address, entry) : 0;
}

#endif
