// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Times off the CPU that are added up by thread, reason, stack and span, instead of being reported one by one: when the
 * recording asks for that, those of a process that has too many in a second, and those that are too short for an event.
 * offcpu.bpf.h calls it.
 */
#ifndef BRAID_SUMS_BPF_H
#define BRAID_SUMS_BPF_H

#include "thread_time.bpf.h"

/* Set before loading: BRAID_SUMS_*, and whether times that are too short for an event are added up. */
const volatile __u32 offcpu_sums;
const volatile bool offcpu_sums_short;

/*
 * The kernel side writes one of them, by the turn in the settings, while the collector empties the other one. All
 * entries are made at load. A thread's entries are written in its own turn only, so nothing is locked.
 */
struct sums_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set at load */
	__type(key, struct braid_sum_key);
	__type(value, struct braid_sum);
} sums_even SEC(".maps"), sums_odd SEC(".maps");

/* How many times processes have reported in the current second, by the process's id. */
#define FLOODS 4096
struct flood {
	__u64 second;
	__u32 pid;
	__u32 reported;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FLOODS);
	__type(key, __u32);
	__type(value, struct flood);
} floods SEC(".maps");

#define FLOOD_SECOND_NS 1000000000ULL

/*
 * True when the process's budget of this second is used up. If two processes have one place, the first one is limited.
 * A global function: the verifier checks it once, and not at each call.
 */
__noinline int flood_counts(struct braid_thread_time *t, __u64 now)
{
	__u32 place = t ? t->pid % FLOODS : 0;
	struct flood *f = bpf_map_lookup_elem(&floods, &place);
	__u64 second = now / FLOOD_SECOND_NS;

	if (!t || !f)
		return false;
	if (f->second != second) {
		f->second = second;
		f->pid = t->pid;
		f->reported = 0;
	}
	if (f->pid != t->pid || __sync_fetch_and_add(&f->reported, 1) < BRAID_FLOOD)
		return false;
	t->sums_until = (second + 1) * FLOOD_SECOND_NS;
	return true;
}

/* Whether the process's budget is known to be used up. */
static __always_inline bool sums_expected(const struct braid_thread_time *t, __u64 now)
{
	return offcpu_sums == BRAID_SUMS_ALWAYS || (offcpu_sums == BRAID_SUMS_FLOOD && now < t->sums_until);
}

/*
 * Whether an interval that would be reported is to be added up. It counts as reported otherwise. Sums have no virtual
 * thread, whose life would lack it.
 */
static __always_inline bool sums_wanted(struct braid_thread_time *t, const struct braid_interval *i)
{
	if (offcpu_sums == BRAID_SUMS_NEVER || !t->since_ns || i->vthread)
		return false;
	return sums_expected(t, i->end_ns) || (offcpu_sums == BRAID_SUMS_FLOOD && flood_counts(t, i->end_ns));
}

/* A stack of an address space that is not known has no lasting number. */
static __always_inline bool stack_is_passing(const struct braid_stack_ref *ref)
{
	return ref->stack && !ref->generation;
}

/* What has no room is counted by class. */
static __always_inline void sum_count(struct braid_thread_time *t)
{
	__u32 class = BRAID_OFFCPU_CLASS(t->sum_key.flags);

	if (class >= BRAID_OFFCPU_CLASSES)
		return;
	t->counted[class] += t->sum.count;
	t->counted_ns[class] += t->sum.ns;
	t->counted_ns[BRAID_OFFCPU_RUNNABLE] += t->sum.ready_ns;
}

static __always_inline void sum_join(struct braid_sum *to, const struct braid_sum *s)
{
	to->count += s->count;
	to->ns += s->ns;
	to->ready_ns += s->ready_ns;
	to->until_ns = s->until_ns;
	if (s->longest_ns > to->longest_ns) {
		to->longest_ns = s->longest_ns;
		to->longest_start_ns = s->longest_start_ns;
	}
}

/* Whether a new sum may have a span. There may be one for each request, and then stacks would find no room. */
static __always_inline bool sum_keeps_span(__u32 turn)
{
	struct braid_offcpu_counts *c = counts_get();

	if (!c)
		return false;
	if (c->turn != turn) {
		c->turn = turn;
		c->span_sums = 0;
	}
	return __sync_fetch_and_add(&c->span_sums, 1) < BRAID_SUM_SPANS;
}

/*
 * Adds a sum to the one with its key in the map of this turn. Without one it makes one if `make` is set, and else
 * returns false, as it does when there is no room. Not a global function: Linux 6.1 takes no key that is an argument of
 * one.
 */
static __noinline bool sum_put(const struct braid_sum_key *key, const struct braid_sum *s, __u32 turn, bool make)
{
	bool odd = turn & 1;
	struct braid_sum *to;

	to = odd ? bpf_map_lookup_elem(&sums_odd, key) : bpf_map_lookup_elem(&sums_even, key);
	if (to)
		sum_join(to, s);
	if (to || !make)
		return to;
	return !(odd ? bpf_map_update_elem(&sums_odd, key, s, BPF_NOEXIST)
		     : bpf_map_update_elem(&sums_even, key, s, BPF_NOEXIST));
}

/* Moves the thread's current sum to the map of this turn. A global function, too. */
__noinline int sum_store(struct braid_thread_time *t)
{
	const struct braid_offcpu_settings *settings = settings_get();
	struct braid_sum_key key;
	struct braid_sum s;

	if (!t || !settings || !t->sum.count)
		return 0;
	key = t->sum_key;
	s = t->sum;
	if (!key.span || !sum_put(&key, &s, settings->turn, false)) {
		if (key.span && !sum_keeps_span(settings->turn))
			key.span = BRAID_SPAN_MANY;
		if (!sum_put(&key, &s, settings->turn, true))
			sum_count(t);
	}
	t->sum.count = 0;
	return 0;
}

static __always_inline bool interval_in_exec(const struct braid_interval *i)
{
	__u32 call = i->flags & BRAID_OFFCPU_SYSCALL;

	return call == NR_EXECVE || call == NR_EXECVEAT;
}

#define SUM_FLAGS (BRAID_OFFCPU_SYSCALL | BRAID_OFFCPU_SHORT | 0xfU << BRAID_OFFCPU_CLASS_SHIFT)

/* Whether the thread's current sum is the one for this stack and reason. */
static __always_inline bool sum_is_for(const struct braid_thread_time *t, const struct braid_stack_ref *ref,
				       __u32 flags, __u32 turn)
{
	return t->sum.count && t->sum_key.stack == ref->stack && t->sum_key.span == ref->span &&
	       t->sum_key.flags == (flags & SUM_FLAGS) && t->sum_turn == turn;
}

static __always_inline void sum_grow(struct braid_thread_time *t, const struct braid_interval *i)
{
	__u64 ns = i->end_ns - i->start_ns, ready = 0;

	if (BRAID_OFFCPU_CLASS(i->flags) != BRAID_OFFCPU_RUNNABLE)
		ready = braid_interval_ready(i);
	t->sum.count++;
	t->sum.ns += ns - ready;
	t->sum.ready_ns += ready;
	t->sum.until_ns = i->end_ns;
	if (ns > t->sum.longest_ns) {
		t->sum.longest_ns = ns;
		t->sum.longest_start_ns = i->start_ns;
	}
}

/*
 * Adds the current interval, whose stack was taken at its start, to the thread's current sum, and clears it. Returns
 * false if that is not where it belongs. Most intervals of a thread that switches often are added here, which takes no
 * call.
 */
static __always_inline bool sum_add_again(struct braid_thread_time *t, const struct braid_offcpu_settings *settings)
{
	if (!t->since_ns || t->now.vthread || t->now.flags & BRAID_OFFCPU_BEFORE || !t->start.generation ||
	    !sum_is_for(t, &t->start, t->now.flags, settings->turn) || !sums_expected(t, t->now.end_ns) ||
	    t->now.end_ns - t->now.start_ns < t->min_ns)
		return false;
	sum_grow(t, &t->now);
	t->now.start_ns = 0;
	return true;
}

/*
 * Adds up an interval on a stack. Most intervals of a thread are on the stack of the last one, so the current sum is in
 * the thread's entry, and the map is for those before. A global function, like sum_store().
 */
__noinline int sum_add(struct braid_thread_time *t, struct braid_interval *i, struct braid_stack_ref *ref)
{
	const struct braid_offcpu_settings *settings = settings_get();
	__u32 turn;

	if (!t || !i || !ref || !settings)
		return 0;
	turn = settings->turn;

	/* The stack at the end of an exec may be the next program's, as the collector sees it. A virtual thread that is
	 * mounted has its part of what the carrier counts. */
	if (!ref->stack || interval_in_exec(i) || (t->carries && i->vthread))
		return interval_count(t, i);
	if (!sum_is_for(t, ref, i->flags, turn)) {
		sum_store(t);
		t->sum_turn = turn;
		t->sum_key = (struct braid_sum_key){.stack = ref->stack,
						    .span = ref->span,
						    .pid = t->pid,
						    .tid = t->tid,
						    .generation = ref->generation,
						    .flags = i->flags & SUM_FLAGS};
		t->sum = (struct braid_sum){0};
	}
	sum_grow(t, i);
	return 0;
}

#endif
