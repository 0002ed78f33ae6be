// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Reads the names of interpreted methods at the sample, because classes may be unloaded and metaspace reused before
 * the collector could read them. A Method with a frame stays, so the names belong to what ran. stack.bpf.h calls it
 * only for stacks that are sent with frames, and it sends only methods that it has not sent before.
 */
#ifndef BRAID_NAMES_BPF_H
#define BRAID_NAMES_BPF_H

#include "slot.bpf.h"

#include <braid/frame.h>

/* One per slot. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set at load */
	__type(key, __u32);
	__type(value, struct braid_event_method);
} method_events SEC(".maps");

/*
 * Methods that were sent. A method has one slot, which contains a hash of all that distinguishes it from others at the
 * same address. Methods that share a slot are sent more often.
 */
#define SENT_METHODS (1 << 16)
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SENT_METHODS);
	__type(key, __u32);
	__type(value, __u64);
} sent_methods SEC(".maps");

/*
 * A bit of the epoch: this JVM does not count unloaded classes (-XX:-UsePerfData), and records of unloads come too
 * late. Then every stack with interpreted frames is sent in full, and class names distinguish the classes.
 */
#define NAMES_UNSURE 0x80000000U

/* The value of a counter in the JVM's memory, which is current when records are late; 0 when there is none. */
static __always_inline __u64 names_count(__u64 address)
{
	__u64 count;

	return address && !bpf_probe_read_user(&count, sizeof(count), (const void *)address) ? count : 0;
}

/* Counts all that may change the meaning of addresses. `code`: the count of unloaded code. */
static __always_inline __u32 names_epoch(const struct braid_jvm *jvm, __u64 code)
{
	__u32 epoch = jvm->epoch + (__u32)names_count(jvm->class_unloads) * 64 + (__u32)code;

	return jvm->class_unloads ? epoch & ~NAMES_UNSURE : epoch | NAMES_UNSURE;
}

static __always_inline __u64 names_mix(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0xd6e8feb86659fd93ULL;
	return hash ^ hash >> 32;
}

static __always_inline long names_word(__u64 *to, __u64 address)
{
	return bpf_probe_read_user(to, sizeof(*to), (const void *)address);
}

static __always_inline long names_half(__u16 *to, __u64 address)
{
	return bpf_probe_read_user(to, sizeof(*to), (const void *)address);
}

/* Reads a Symbol's bytes, cut to `room`, a constant. */
static __always_inline long names_symbol(const struct braid_layout *l, __u64 symbol, char *to, __u32 room,
					 __u16 *length)
{
	__u32 n;

	if (names_half(length, symbol + l->symbol_length))
		return -1;
	n = *length;
	if (n > room)
		n = room;
	barrier_var(n);
	if (n > room)
		return -1;
	return bpf_probe_read_user(to, n, (const void *)(symbol + l->symbol_body));
}

static __always_inline long names_pool_symbol(const struct braid_layout *l, __u64 pool, __u64 index, char *to,
					      __u32 room, __u16 *length)
{
	__u64 symbol;

	if (names_word(&symbol, pool + l->pool_size + 8 * index))
		return -1;
	return names_symbol(l, symbol & ~1ULL, to, room, length);
}

/* Reads names through ConstMethod, ConstantPool and class to three Symbols. 0, or -1 when a page is not in memory. */
__noinline long names_read(struct braid_event_method *e, const struct braid_layout *l)
{
	__u64 pool, holder, symbol;
	__u16 name = 0, signature = 0;

	if (!e || !l)
		return -1;
	if (bpf_probe_read_user(&e->modifiers, 4, (const void *)(e->method + l->method_access_flags)) ||
	    names_word(&pool, e->const_method + l->const_constants) ||
	    names_half(&name, e->const_method + l->const_name_index) ||
	    names_half(&signature, e->const_method + l->const_signature_index) ||
	    names_word(&holder, pool + l->pool_holder) || names_word(&symbol, holder + l->klass_name) ||
	    names_symbol(l, symbol, e->class_name, BRAID_CLASS_NAME_MAX, &e->class_length) ||
	    names_pool_symbol(l, pool, name, e->name, BRAID_METHOD_NAME_MAX, &e->name_length))
		return -1;
	return names_pool_symbol(l, pool, signature, e->signature, BRAID_SIGNATURE_MAX, &e->signature_length);
}

/* A hash of the end of the class's name; bytes before a shorter name do no harm. 0 when it is unreadable. */
static __always_inline __u64 names_class(struct braid_event_method *e, const struct braid_layout *l)
{
	__u64 *words = (__u64 *)e->class_name, at, hash = 0;
	__u16 length;

	if (names_word(&at, e->const_method + l->const_constants) || names_word(&at, at + l->pool_holder) ||
	    names_word(&at, at + l->klass_name) || names_half(&length, at + l->symbol_length))
		return 0;
	at += l->symbol_body + length;
	if (bpf_probe_read_user(words, 64, (const void *)(at - 64)))
		return 0;
	for (int i = 0; i < 8; i++)
		hash = names_mix(hash, words[i]);
	return hash;
}

struct names_state {
	const struct braid_layout *layout;
	const __u64 *frames;
	__u64 time_ns;
	__u32 pid;
	__u32 epoch;
	__u32 count;
	__u32 slot;
	__u32 failed;
	__u32 reserved;
};

/*
 * The identity of a Method among those ever at its address: a hash of the epoch, and of its ConstMethod the address,
 * the sizes and the begin of the line numbers, which follow the byte codes. 0 when it is unreadable.
 */
__noinline __u64 names_identity(struct braid_event_method *e, const struct braid_layout *l, __u64 method, __u32 epoch)
{
	if (!e || !l)
		return 0;
	e->method = method;
	e->lines = 0;
	if (names_word(&e->const_method, method + l->method_const) ||
	    names_word(&e->sizes, e->const_method + l->const_code_size))
		return 0;
	(void)names_word(&e->lines, e->const_method + l->const_size + (e->sizes & 0xffff));
	if (epoch & NAMES_UNSURE)
		method += names_class(e, l);
	return names_mix(names_mix(names_mix(names_mix(method, e->pid), epoch), e->const_method), e->sizes ^ e->lines) |
	       1;
}

static long names_frame(__u32 i, void *ctx)
{
	struct names_state *n = ctx;
	struct braid_event_method *e;
	__u64 method, identity, *sent;
	__u32 slot;

	if (i >= n->count || i >= BRAID_MAX_FRAMES)
		return 1;
	if (braid_frame_kind(n->frames[i]) != BRAID_FRAME_INTERPRETED)
		return 0;
	method = braid_frame_method(n->frames[i]);
	slot = (__u32)(names_mix(method, n->pid) >> 8) % SENT_METHODS;
	e = bpf_map_lookup_elem(&method_events, &n->slot);
	sent = bpf_map_lookup_elem(&sent_methods, &slot);
	if (!e || !sent)
		return 1;
	e->pid = n->pid;
	identity = names_identity(e, n->layout, method, n->epoch);
	if (identity && *sent == identity)
		return 0;
	e->hdr.kind = BRAID_EVENT_METHOD;
	e->hdr.size = sizeof(*e);
	e->hdr.time_ns = n->time_ns;
	e->flags = identity && !names_read(e, n->layout) ? BRAID_METHOD_READ : 0;
	if (bpf_ringbuf_output(&events, e, sizeof(*e), events_wake())) {
		n->failed = 1;
		return 1;
	}
	*sent = e->flags & BRAID_METHOD_READ ? identity : 0;
	return 0;
}

/*
 * Sends the names of interpreted frames among the slot's first `count`. False when there is no room: then the stack
 * must not be sent either, because the collector's names may be out of date.
 */
__noinline bool names_send(__u32 slot, __u32 count)
{
	struct names_state n = {.count = count, .slot = slot};
	struct sample *s = slot_at(slot);
	struct braid_jvm *jvm;

	if (!s || !s->known)
		return true;
	slot = s->process.jvm - 1;
	jvm = bpf_map_lookup_elem(&jvms, &slot);
	if (!jvm || !(jvm->layout.flags & BRAID_LAYOUT_NAMES))
		return true;
	n.layout = &jvm->layout;
	n.frames = s->frames;
	n.time_ns = s->event.hdr.time_ns;
	n.pid = s->event.pid;
	n.epoch = s->epoch;
	bpf_loop(count, names_frame, &n, 0);
	return !n.failed;
}

#endif
