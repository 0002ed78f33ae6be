// SPDX-License-Identifier: Apache-2.0
/*
 * The filter of times off the CPU, which the eBPF programs evaluate when one ends, and the collector for those that go
 * on when the recording ends.
 */
#ifndef BRAID_OFFCPU_FILTER_H
#define BRAID_OFFCPU_FILTER_H

#include <braid/event.h>
#include <braid/hit.h>

/* Value of the map `offcpu_filter`. */
struct braid_offcpu_filter {
	__u32 terms;
	__u32 sums; /* enum braid_sums: what becomes of what it selects */
	struct braid_hit_term term[BRAID_HIT_TERMS];
};

/* Whether a term is about what the thread is: its result is a bit of braid_thread_time.texts. */
static inline bool braid_offcpu_is_text(const struct braid_hit_term *term)
{
	return term->operand == BRAID_HIT_COMM || term->operand == BRAID_HIT_CGROUP;
}

static inline __u64 braid_offcpu_value(const struct braid_hit_term *term, const struct braid_thread_time *t,
				       const struct braid_interval *i)
{
	switch (term->operand) {
	case BRAID_HIT_PID:
		return t->pid;
	case BRAID_HIT_TID:
		return t->tid;
	case BRAID_HIT_CPU:
		return i->from;
	case BRAID_HIT_STATE:
		return 1ULL << BRAID_OFFCPU_CLASS(i->flags);
	default:
		return i->end_ns - i->start_ns;
	}
}

/*
 * Alternatives are joined by terms with BRAID_HIT_OR. Before the interval has ended, its duration may be anything:
 * false is final, because nothing is negated.
 */
static inline bool braid_offcpu_selects(const struct braid_offcpu_filter *f, const struct braid_thread_time *t,
					const struct braid_interval *i, bool ended)
{
	bool selected = true;

	for (__u32 n = 0; n < BRAID_HIT_TERMS && n < f->terms; n++) {
		const struct braid_hit_term *term = &f->term[n];

		if (term->flags & BRAID_HIT_OR) {
			if (selected)
				return true;
			selected = true;
		}
		if (selected && (ended || term->operand != BRAID_HIT_DURATION))
			selected = braid_offcpu_is_text(term) ? t->texts >> n & 1
							      : braid_hit_compare(term, braid_offcpu_value(term, t, i));
	}
	return selected;
}

#endif
