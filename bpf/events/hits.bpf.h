// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The programs of hit events: at every n-th hit of a tracepoint, a function or a USDT probe by a recorded process
 * they take a sample. One program for each type of event; the cookie is the event's number. They are loaded only with
 * such events.
 */
#ifndef BRAID_HITS_BPF_H
#define BRAID_HITS_BPF_H

#include "jvm/jvm_event.bpf.h"
#include "match.bpf.h"
#include "jvm/probes.bpf.h"
#include "stack/sample.bpf.h"

/* The collector writes it. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BRAID_HITS);
	__type(key, __u32);
	__type(value, struct braid_hit);
} hits SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, BRAID_HITS);
	__type(key, __u32);
	__type(value, struct braid_hit_count);
} hit_counts SEC(".maps");

/*
 * What walks have cost on a CPU in its current second. All together get half of a CPU. One event of one process gets as
 * much as is still free: alone a quarter of the CPU, so that a hot one leaves time to the others.
 */
#define HIT_SECOND_NS 1000000000ULL
#define HITS_SHARE_NS (HIT_SECOND_NS / 2)
#define HIT_WALK_NS 2000000ULL /* one walk counts as this at most: it may have been interrupted */

struct hit_spending {
	__u64 second;
	__u64 spent_ns;
	__u64 who; /* event and process; 0: all */
};

/* The first entry is for all. Who spends has another one, in one of a few places, for as long as the second lasts. */
#define HIT_SPENDINGS 512
#define HIT_PLACES 4

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, HIT_SPENDINGS);
	__type(key, __u32);
	__type(value, struct hit_spending);
} hit_spendings SEC(".maps");

/* ---- filters ---- */

/* One hit, while its filter is evaluated. */
struct hit {
	const struct braid_hit *event;
	const void *record; /* of a tracepoint: the program's context */
	__u64 argument[BRAID_HIT_VALUES];
	__u32 arguments; /* of a function or USDT probe: how many there are */
	bool selected;	 /* by the terms so far of the current alternative */
};

static __always_inline __u64 hit_argument(const struct hit *h, const struct braid_hit_term *t)
{
	__u64 value = 0;

	(void)bpf_probe_read_kernel(&value, sizeof(value), &h->argument[t->offset % BRAID_HIT_VALUES]);
	return value;
}

/* Reads a string of at most `room` bytes, with its zero. Returns its length, or a negative number. */
static __always_inline long hit_text(const struct hit *h, const struct braid_hit_term *t, void *text, __u32 room)
{
	const void *field = h->record + (t->offset & 0xffff);
	__u32 place = 0, size = room;
	__u64 address = 0;

	switch (t->operand) {
	case BRAID_HIT_COMM:
		return bpf_get_current_comm(text, 16) ? -1 : 16;
	case BRAID_HIT_STRING:
		if (t->size < room)
			size = t->size;
		barrier_var(size);
		return size <= room ? bpf_probe_read_kernel_str(text, size, field) : -1;
	case BRAID_HIT_DYNAMIC:
		if (bpf_probe_read_kernel(&place, sizeof(place), field))
			return -1;
		return bpf_probe_read_kernel_str(text, room, h->record + (place & 0xffff));
	case BRAID_HIT_USER:
		if (bpf_probe_read_kernel(&address, sizeof(address), field))
			return -1;
		return bpf_probe_read_user_str(text, room, (const void *)address);
	case BRAID_HIT_POINTED:
		return bpf_probe_read_user_str(text, room, (const void *)hit_argument(h, t));
	}
	return -1;
}

static __noinline bool hit_text_holds(const struct hit *h, const struct braid_hit_term *t)
{
	struct match m = {0};

	(void)hit_text(h, t, m.text, MATCH_TEXT); /* it is empty where it cannot be read */
	return match_holds(&m, t);
}

/* A number in a tracepoint's record. */
static __always_inline __u64 hit_field(const struct hit *h, const struct braid_hit_term *t)
{
	const void *field = h->record + (t->offset & 0xffff);
	bool is_signed = t->flags & BRAID_HIT_SIGNED;
	__u64 value = 0;

	switch (t->size) {
	case 1:
		(void)bpf_probe_read_kernel(&value, 1, field);
		return is_signed ? (__u64)(__s8)value : value;
	case 2:
		(void)bpf_probe_read_kernel(&value, 2, field);
		return is_signed ? (__u64)(__s16)value : value;
	case 4:
		(void)bpf_probe_read_kernel(&value, 4, field);
		return is_signed ? (__u64)(__s32)value : value;
	default:
		(void)bpf_probe_read_kernel(&value, 8, field);
		return value;
	}
}

static __always_inline __u64 hit_number(const struct hit *h, const struct braid_hit_term *t)
{
	switch (t->operand) {
	case BRAID_HIT_PID:
		return bpf_get_current_pid_tgid() >> 32;
	case BRAID_HIT_TID:
		return (__u32)bpf_get_current_pid_tgid();
	case BRAID_HIT_CPU:
		return bpf_get_smp_processor_id();
	case BRAID_HIT_ARGUMENT:
		return hit_argument(h, t);
	default:
		return hit_field(h, t);
	}
}

static __noinline bool hit_number_holds(const struct hit *h, const struct braid_hit_term *t)
{
	return braid_hit_compare(t, hit_number(h, t));
}

static long hit_term(__u32 i, void *ctx)
{
	struct hit *h = ctx;
	const struct braid_hit_term *t;

	if (i >= BRAID_HIT_TERMS)
		return 1;
	t = &h->event->term[i];
	if (t->flags & BRAID_HIT_OR) {
		if (h->selected)
			return 1;
		h->selected = true;
	}
	if (h->selected)
		h->selected = t->operand == BRAID_HIT_COMM || t->operand >= BRAID_HIT_STRING ? hit_text_holds(h, t)
											     : hit_number_holds(h, t);
	return 0;
}

static __always_inline bool hit_selected(struct hit *h)
{
	h->selected = true;
	if (h->event->terms)
		bpf_loop(h->event->terms, hit_term, h, 0);
	return h->selected;
}

/* ---- budgets ---- */

static __always_inline void hit_spending_begin(struct hit_spending *h, __u64 second, __u64 who)
{
	h->second = second;
	h->spent_ns = 0;
	h->who = who;
}

static __always_inline struct hit_spending *hit_spending_of_all(__u64 second)
{
	__u32 first = 0;
	struct hit_spending *h = bpf_map_lookup_elem(&hit_spendings, &first);

	if (h && h->second != second)
		hit_spending_begin(h, second, 0);
	return h;
}

/* Where all places are in use, it is one that another one has. */
static __always_inline struct hit_spending *hit_spending_of(__u32 number, __u32 tgid, __u64 second)
{
	__u64 who = (__u64)(number + 1) << 32 | tgid;
	struct hit_spending *unused = NULL, *h = NULL;

	for (__u32 i = 0; i < HIT_PLACES; i++) {
		__u32 place = 1 + (tgid * BRAID_HITS + number + i * 61) % (HIT_SPENDINGS - 1);

		h = bpf_map_lookup_elem(&hit_spendings, &place);
		if (!h || (h->who == who && h->second == second))
			break;
		if (!unused && h->second != second)
			unused = h;
		if (i == HIT_PLACES - 1 && unused) {
			h = unused;
			hit_spending_begin(h, second, who);
		}
	}
	return h;
}

/* False when the CPU's time for hits, or the event ring's room for them, is used up. */
static __noinline bool hit_affordable(__u32 number, __u64 now, __u32 tgid)
{
	__u64 second = now / HIT_SECOND_NS;
	struct hit_spending *all = hit_spending_of_all(second), *own = hit_spending_of(number, tgid, second);

	return all && own && all->spent_ns < HITS_SHARE_NS && own->spent_ns < HITS_SHARE_NS - all->spent_ns &&
	       events_room(tgid);
}

static __noinline int hit_charge(__u32 number, __u64 began, __u32 tgid)
{
	__u64 now = bpf_ktime_get_ns(), ns = now - began, second = now / HIT_SECOND_NS;
	struct hit_spending *all = hit_spending_of_all(second), *own = hit_spending_of(number, tgid, second);

	if (ns > HIT_WALK_NS)
		ns = HIT_WALK_NS;
	if (all)
		__sync_fetch_and_add(&all->spent_ns, ns);
	if (own)
		__sync_fetch_and_add(&own->spent_ns, ns);
	return 0;
}

/* Counts a hit that is due and left out, also for its process: as an event of the kind, or as BRAID_LOST_HIT. */
static __always_inline void hit_lost(struct braid_hit_count *c, __u32 tgid, __u32 kind)
{
	__sync_fetch_and_add(&c->lost, 1);
	jvm_event_lost(tgid, kind);
}

/* ---- values ---- */

/*
 * The values of one hit, while they are read. How many bytes there are is in to->hdr.size, because the verifier would
 * follow each possible number in a variable.
 */
struct hit_values {
	const struct hit *hit;
	struct braid_event_hit *to;
};

static long hit_value(__u32 i, void *ctx)
{
	struct hit_values *v = ctx;
	struct braid_event_hit *to = v->to;
	const struct braid_hit_term *t;
	__u32 at = to->hdr.size;
	__u64 number;
	long length;

	if (i >= BRAID_HIT_FIELDS || at > BRAID_HIT_BYTES - 1 - BRAID_VALUE_TEXT_MAX)
		return 1;
	t = &v->hit->event->field[i];
	to->bytes[at] = BRAID_VALUE_NONE;
	to->count++;
	to->hdr.size = at + 1;
	if ((t->operand == BRAID_HIT_ARGUMENT || t->operand == BRAID_HIT_POINTED) && t->offset >= v->hit->arguments)
		return 0;
	if (t->operand < BRAID_HIT_STRING) {
		number = hit_number(v->hit, t);
		__builtin_memcpy(&to->bytes[at + 1], &number, sizeof(number));
		to->bytes[at] = BRAID_VALUE_NUMBER;
		to->hdr.size = at + 1 + sizeof(number);
		return 0;
	}
	length = hit_text(v->hit, t, &to->bytes[at + 1], BRAID_VALUE_TEXT_MAX);
	if (length <= 0 || length > BRAID_VALUE_TEXT_MAX)
		return 0;
	to->bytes[at] = length == BRAID_VALUE_TEXT_MAX ? BRAID_VALUE_CUT : BRAID_VALUE_TEXT;
	to->hdr.size = at + 1 + (__u32)length;
	return 0;
}

/* Sends the values that the event's samples have. False: there is no room. */
static __noinline bool hit_send_values(const struct hit *h, struct sample *s)
{
	struct hit_values v = {.hit = h};
	__u32 size;

	if (!h || !s)
		return false;
	v.to = &s->hit;
	s->hit.hdr.kind = BRAID_EVENT_HIT;
	s->hit.hdr.time_ns = s->event.hdr.time_ns;
	s->hit.pid = s->tgid;
	s->hit.tid = (__u32)bpf_get_current_pid_tgid();
	s->hit.event = s->event.event;
	s->hit.count = s->hit.hdr.size = 0;
	bpf_loop(h->event->fields, hit_value, &v, 0);
	size = s->hit.hdr.size;
	if (size > BRAID_HIT_BYTES)
		return false;
	size += sizeof(s->hit) - BRAID_HIT_BYTES;
	s->hit.hdr.size = size;
	jvm_event_charge(s->tgid, size);
	return !bpf_ringbuf_output(&events, &s->hit, size, events_wake());
}

/* ---- samples ---- */

/* The event; NULL: it is off, or the process is not recorded. */
static __always_inline const struct braid_hit *hit_event(__u32 number)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	const struct braid_hit *event;

	if (!tgid || (!system_wide && !bpf_map_lookup_elem(&processes, &tgid)))
		return NULL;
	event = bpf_map_lookup_elem(&hits, &number);
	return event && event->period ? event : NULL;
}

static __always_inline bool hit_find(struct hit *h, __u32 number)
{
	h->event = hit_event(number);
	return h->event != NULL;
}

/*
 * A hit takes a sample in these steps: hit_find(), the arguments, hit_begin(); the kernel's part of the stack; the
 * user registers; and always hit_end(). hit_begin() returns NULL when there is nothing to record.
 */
static __always_inline struct sample *hit_begin(struct hit *h, __u32 number)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, slot;
	struct braid_hit_count *c = bpf_map_lookup_elem(&hit_counts, &number);
	__u64 now = bpf_ktime_get_ns();
	struct sample *s;

	if (!c || !hit_selected(h) || (__sync_fetch_and_add(&c->hits, 1) + 1) % h->event->period)
		return NULL;
	slot = hit_affordable(number, now, tgid) ? slot_take() : SLOT_NONE;
	s = slot_at(slot);
	if (!s) {
		hit_lost(c, tgid, BRAID_LOST_HIT);
		return NULL;
	}
	s->w.slot = slot;
	stack_reset(s, bpf_map_lookup_elem(&processes, &tgid), now);
	s->event.event = number + 1;
	if (h->event->fields && !hit_send_values(h, s)) {
		slot_release(s);
		hit_lost(c, tgid, BRAID_LOST_HIT);
		return NULL;
	}
	return s;
}

static __always_inline int hit_end(struct sample *s, bool user, __u32 number)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32, bytes;
	__u64 began = s->event.hdr.time_ns;

	bytes = sample_take(s->w.slot, user);
	hit_charge(number, began, tgid);
	if (bytes)
		jvm_event_charge(tgid, bytes);
	return 0;
}

SEC("tracepoint")
int on_tracepoint(void *ctx)
{
	__u32 number = (__u32)bpf_get_attach_cookie(ctx);
	struct hit h = {.record = ctx};
	struct sample *s = hit_find(&h, number) ? hit_begin(&h, number) : NULL;

	if (!s)
		return 0;
	stack_walk_kernel(ctx, s);
	return hit_end(s, stack_entry_regs(bpf_get_current_task_btf(), &s->w), number);
}

/* At an overflow of a counter beside the clock. */
SEC("perf_event")
int on_counter(struct bpf_perf_event_data *ctx)
{
	__u32 number = (__u32)bpf_get_attach_cookie(ctx);
	struct hit h = {0};
	struct sample *s = hit_find(&h, number) ? hit_begin(&h, number) : NULL;

	return s ? hit_end(s, sample_begin_stack(ctx, s), number) : 0;
}

/* At a function or USDT probe. The kernel has set the pc back to the probed instruction. */
static __always_inline int hit_in_user(struct pt_regs *ctx, struct hit *h, __u32 number)
{
	struct sample *s = hit_begin(h, number);
	bool user;

	if (!s)
		return 0;
	user = stack_entry_regs(bpf_get_current_task_btf(), &s->w);
	s->w.pc = ctx->ip;
	return hit_end(s, user, number);
}

SEC("uprobe")
int on_function(struct pt_regs *ctx)
{
	__u32 number = (__u32)bpf_get_attach_cookie(ctx);
	struct hit h = {.argument = {ctx->di, ctx->si, ctx->dx, ctx->cx, ctx->r8, ctx->r9},
			.arguments = BRAID_HIT_ARGUMENTS};

	probe_on_thread_stack(ctx, &no_programs);
	return hit_find(&h, number) ? hit_in_user(ctx, &h, number) : 0;
}

/* ---- returns ---- */

/* A call of a function is known by the place of its return address, and so is a recursive one. */
struct timed_call {
	__u64 sp;
	__u32 tid;
	__u32 number; /* of the event */
};

/* When calls began that have not returned. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* set at load */
	__type(key, struct timed_call);
	__type(value, __u64);
} timed_calls SEC(".maps");

/* Also in processes that are not recorded yet: the call may return when they are. */
SEC("uprobe")
int on_call_timed(struct pt_regs *ctx)
{
	struct timed_call call = {
		.sp = ctx->sp, .tid = (__u32)bpf_get_current_pid_tgid(), .number = (__u32)bpf_get_attach_cookie(ctx)};
	__u64 now = bpf_ktime_get_ns();

	probe_on_thread_stack(ctx, &no_programs);
	bpf_map_update_elem(&timed_calls, &call, &now, BPF_ANY);
	return 0;
}

/* Takes the time since the call. False: it is not known. */
static __always_inline bool return_take_elapsed(struct hit *h, __u64 sp, __u32 number)
{
	struct timed_call call = {.sp = sp - 8, .tid = (__u32)bpf_get_current_pid_tgid(), .number = number};
	const struct braid_hit *event = bpf_map_lookup_elem(&hits, &number);
	__u64 now = bpf_ktime_get_ns(), *began;

	if (!event || !(event->flags & BRAID_HIT_READS_ELAPSED))
		return event;
	began = bpf_map_lookup_elem(&timed_calls, &call);
	if (!began)
		return false;
	h->argument[BRAID_RETURN_ELAPSED] = now - *began;
	bpf_map_delete_elem(&timed_calls, &call);
	return true;
}

/* Behind the call: the kernel has set the pc to the return address. */
SEC("uretprobe")
int on_return(struct pt_regs *ctx)
{
	__u32 number = (__u32)bpf_get_attach_cookie(ctx), tgid = bpf_get_current_pid_tgid() >> 32;
	struct hit h = {.argument = {[BRAID_RETURN_VALUE] = ctx->ax}, .arguments = BRAID_RETURN_VALUES};
	struct braid_hit_count *c;
	bool timed;

	probe_on_thread_stack(ctx, &no_programs);
	timed = return_take_elapsed(&h, ctx->sp, number);
	if (!hit_find(&h, number))
		return 0;
	if (timed)
		return hit_in_user(ctx, &h, number);
	c = bpf_map_lookup_elem(&hit_counts, &number);
	if (c)
		hit_lost(c, tgid, BRAID_LOST_HIT);
	return 0;
}

/* ---- USDT probes ---- */

SEC("usdt")
int on_usdt_hit(struct pt_regs *ctx)
{
	__u32 number = (__u32)bpf_usdt_cookie(ctx);
	struct hit h = {0};

	probe_on_thread_stack(ctx, &no_programs);
	if (!hit_find(&h, number))
		return 0;
	if (h.event->flags & BRAID_HIT_READS_ARGUMENTS) {
		h.arguments = bpf_usdt_arg_cnt(ctx);
		(void)bpf_usdt_arg(ctx, 0, (long *)&h.argument[0]);
		(void)bpf_usdt_arg(ctx, 1, (long *)&h.argument[1]);
		(void)bpf_usdt_arg(ctx, 2, (long *)&h.argument[2]);
		(void)bpf_usdt_arg(ctx, 3, (long *)&h.argument[3]);
		(void)bpf_usdt_arg(ctx, 4, (long *)&h.argument[4]);
		(void)bpf_usdt_arg(ctx, 5, (long *)&h.argument[5]);
	}
	return hit_in_user(ctx, &h, number);
}

#endif
