// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Sends JVM events to the collector, within each process's share of the event ring. All programs that emit JVM events
 * use it. */
#ifndef BRAID_JVM_EVENT_BPF_H
#define BRAID_JVM_EVENT_BPF_H

#include "stack/stack.bpf.h"

#include <braid/share.h>

/*
 * Samples go first: half of the ring is for them alone. The other half is shared by users and processes, because a
 * process can request, sleep or collect as fast as it likes. With this much for a user, a process that is alone gets
 * three fourths. The collector resets entries.
 */
#define RING_PER_FREE 4
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BRAID_MAX_JVMS + 1);
	__type(key, __u32);
	__type(value, struct braid_request_share);
} request_shares SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BRAID_USERS);
	__type(key, __u32);
	__type(value, struct braid_user_share);
} user_shares SEC(".maps");

/* The shares of processes without a slot: in one of a few places from the pid on, as long as it is in use. */
#define STRAY_SHARES 256
#define STRAY_PLACES 4
struct stray_share {
	struct braid_ring_share ring;
	__u32 pid;
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, STRAY_SHARES);
	__type(key, __u32);
	__type(value, struct stray_share);
} stray_shares SEC(".maps");

/* What processes without a slot have lost, by pid. The collector takes entries out. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BRAID_STRAYS);
	__type(key, __u32);
	__type(value, struct braid_lost);
} strays SEC(".maps");

static const struct braid_lost lost_nothing;

static __always_inline __u32 process_slot(const struct braid_process *p)
{
	return p && p->jvm ? p->jvm - 1 : BRAID_MAX_JVMS;
}

static __always_inline __u32 process_user(const struct braid_process *p)
{
	return p ? p->user : 0;
}

static __always_inline __u32 slot_of(__u32 tgid)
{
	return process_slot(bpf_map_lookup_elem(&processes, &tgid));
}

static __always_inline struct braid_user_share *user_share(__u32 user)
{
	return bpf_map_lookup_elem(&user_shares, &user);
}

/* Where all places are in use, processes have a share together. `read`: up to where the ring has been read. */
static __always_inline struct braid_ring_share *share_of_stray(__u32 tgid, __u64 read)
{
	struct stray_share *unused = NULL, *s = NULL;

	for (__u32 i = 0; i < STRAY_PLACES; i++) {
		__u32 place = (tgid + i) % STRAY_SHARES;

		s = bpf_map_lookup_elem(&stray_shares, &place);
		if (!s || s->pid == tgid)
			break;
		if (!unused && read >= s->ring.until)
			unused = s;
		if (i == STRAY_PLACES - 1 && unused) {
			s = unused;
			s->pid = tgid;
		}
	}
	return s ? &s->ring : NULL;
}

/* A process's share of the ring, and that of its user. */
struct ring_shares {
	struct braid_ring_share *own, *all;
};

/* Whose they are. */
struct share_owner {
	__u32 slot; /* BRAID_MAX_JVMS: none */
	__u32 user;
	__u32 tgid;
};

static __always_inline struct share_owner owner_of(__u32 tgid)
{
	const struct braid_process *p = bpf_map_lookup_elem(&processes, &tgid);

	return (struct share_owner){.slot = process_slot(p), .user = process_user(p), .tgid = tgid};
}

static __always_inline bool shares_of(const struct share_owner *o, __u64 read, struct ring_shares *s)
{
	struct braid_user_share *user = user_share(o->user);
	__u32 slot = o->slot;
	struct braid_request_share *a = slot < BRAID_MAX_JVMS ? bpf_map_lookup_elem(&request_shares, &slot) : NULL;

	s->own = a ? &a->ring : share_of_stray(o->tgid, read);
	s->all = user ? &user->ring : NULL;
	return s->own && s->all;
}

static __always_inline void shares_charge(struct ring_shares *s, __u32 bytes)
{
	__sync_fetch_and_add(&s->own->bytes, bytes);
	__sync_fetch_and_add(&s->all->bytes, bytes);
}

/* NULL: there are too many. */
static __always_inline struct braid_lost *lost_of_stray(__u32 tgid)
{
	struct braid_lost *l = bpf_map_lookup_elem(&strays, &tgid);

	if (l)
		return l;
	bpf_map_update_elem(&strays, &tgid, &lost_nothing, BPF_NOEXIST);
	return bpf_map_lookup_elem(&strays, &tgid);
}

/* A global function, like the next ones, which most programs call at several places: the verifier checks it once. */
__noinline int jvm_event_lost(__u32 tgid, __u32 kind)
{
	__u32 slot = slot_of(tgid);
	struct braid_lost *stray = slot == BRAID_MAX_JVMS ? lost_of_stray(tgid) : NULL;
	struct braid_request_share *a;

	if (stray) {
		__sync_fetch_and_add(&stray->events[kind % BRAID_JVM_KINDS_MAX], 1);
		return 0;
	}
	a = bpf_map_lookup_elem(&request_shares, &slot);
	if (a)
		__sync_fetch_and_add(&a->lost.events[kind % BRAID_JVM_KINDS_MAX], 1);
	return 0;
}

static __always_inline void share_renew(struct braid_ring_share *r, __u64 read, __u64 written)
{
	if (read >= r->until) {
		r->until = written;
		r->bytes = 0;
	}
}

/* False when the share of the process, or of its user, is full. Otherwise `bytes` are taken from both. */
static __always_inline bool events_take(const struct share_owner *o, __u32 bytes)
{
	__u64 read = bpf_ringbuf_query(&events, BPF_RB_CONS_POS), written = bpf_ringbuf_query(&events, BPF_RB_PROD_POS);
	__u64 half = events_bytes / 2, used = written - read;
	struct ring_shares s;

	if (!shares_of(o, read, &s))
		return false;
	share_renew(s.own, read, written);
	share_renew(s.all, read, written);
	if (used >= half || !braid_share_has(half - used, RING_PER_FREE, s.all->bytes, s.own->bytes, 1))
		return false;
	if (bytes)
		shares_charge(&s, bytes);
	return true;
}

/* A global function, too. */
__noinline bool events_room(__u32 tgid)
{
	const struct share_owner o = owner_of(tgid);

	return events_take(&o, 0);
}

/* The same, and counts the loss. Called before a stack is taken for the event. */
__noinline bool jvm_event_room(__u32 tgid, __u32 kind)
{
	if (events_room(tgid))
		return true;
	jvm_event_lost(tgid, kind);
	return false;
}

/* The same, and takes the bytes of the event, which is known to be sent now. */
__noinline bool jvm_event_take(__u32 tgid, __u32 kind, __u32 bytes)
{
	const struct share_owner o = owner_of(tgid);

	if (events_take(&o, bytes))
		return true;
	jvm_event_lost(tgid, kind);
	return false;
}

/* Takes the bytes of what is sent without such an event, or with too few. */
__noinline int jvm_event_charge(__u32 tgid, __u32 bytes)
{
	const struct share_owner o = owner_of(tgid);
	struct ring_shares s;

	if (shares_of(&o, bpf_ringbuf_query(&events, BPF_RB_CONS_POS), &s))
		shares_charge(&s, bytes);
	return 0;
}

/* Whose event it is, and when. */
struct jvm_event_of {
	__u32 tgid, tid, kind;
	__u64 time_ns;
};

/* jvm_event_begin_of() when its bytes have been taken. */
static __always_inline void *jvm_event_begin_taken(const struct jvm_event_of *of, const struct braid_stack_ref *ref,
						   __u32 size)
{
	struct braid_event_jvm_event *e;

	e = bpf_ringbuf_reserve(&events, size, 0);
	if (!e) {
		jvm_event_lost(of->tgid, of->kind);
		return NULL;
	}
	*e = (struct braid_event_jvm_event){0};
	e->hdr.kind = BRAID_EVENT_JVM_EVENT;
	e->hdr.size = size;
	e->hdr.time_ns = of->time_ns;
	e->pid = of->tgid;
	e->tid = of->tid;
	e->stack = ref->stack;
	e->vthread = ref->vthread;
	e->span = ref->span;
	e->generation = ref->generation;
	e->event.kind = of->kind;
	return e;
}

/* Begins an event of a thread at a time; see jvm_event_begin(). `size` is a constant. */
static __always_inline void *jvm_event_begin_of(const struct jvm_event_of *of, const struct braid_stack_ref *ref,
						__u32 size)
{
	return jvm_event_take(of->tgid, of->kind, size + ref->bytes) ? jvm_event_begin_taken(of, ref, size) : NULL;
}

/* jvm_event_begin() of a larger event that begins like this one; `size` is a constant. */
static __always_inline void *jvm_event_begin_sized(__u32 tgid, __u32 kind, const struct braid_stack_ref *ref,
						   __u32 size)
{
	const struct jvm_event_of of = {
		.tgid = tgid, .tid = (__u32)bpf_get_current_pid_tgid(), .kind = kind, .time_ns = bpf_ktime_get_ns()};

	return jvm_event_begin_of(&of, ref, size);
}

/*
 * Begins an event of a process, by default of the current thread, now. The caller fills it in and submits it at once
 * (bpf_ringbuf_submit). NULL: counted as lost.
 */
static __always_inline struct braid_event_jvm_event *jvm_event_begin(__u32 tgid, __u32 kind,
								     const struct braid_stack_ref *ref)
{
	return jvm_event_begin_sized(tgid, kind, ref, sizeof(struct braid_event_jvm_event));
}

#endif
