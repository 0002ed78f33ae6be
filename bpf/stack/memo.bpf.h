// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* A cache of the walk's steps. stack.bpf.h tries it before a step and fills it afterwards. */
#ifndef BRAID_MEMO_BPF_H
#define BRAID_MEMO_BPF_H

#include "rules.bpf.h"
#include "window.bpf.h"

/* Set before loading. */
const volatile __u32 memo_shift; /* log2 of the number of memos per slot */

/*
 * The result of an earlier step in this slot: from a frame of a process to its caller. Most callers of a thread are
 * still there at the next tick. Then comparing the words that the step would read saves finding them, which costs
 * several cache and TLB misses. Code with a frame on a stack stays, so the step would have the same result: a memo is
 * used only after each word has been compared.
 */
enum sample_memo_kind { MEMO_NATIVE = 0, MEMO_CODE = 1, MEMO_INTERPRETED = 2 };

struct sample_memo {
	__u64 sp;
	__u64 fp;
	__u64 owner; /* process, epoch, and enum sample_memo_kind */
	__u64 caller_sp;
	__u64 caller_pc;
	__u64 caller_fp;
	__u64 word; /* the frame's */
	union {
		__u64 fp_at; /* where caller_fp was read; 0: fp is unchanged */
		__u64 bcp;   /* of an interpreted frame */
	};
};
_Static_assert(sizeof(struct sample_memo) == 64, "a cache line");

/* All slots have the same number in a row. A mmapable map begins at a page, so an entry is one cache line. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set at load */
	__type(key, __u32);
	__type(value, struct sample_memo);
} memos SEC(".maps");

/* The entry for frames at `sp`. Frames are at least 16 bytes apart, and threads' stacks often 1 MiB. */
static __always_inline struct sample_memo *memo_at(const struct sample *s)
{
	__u64 sp = s->w.sp;
	__u32 entries = 1U << (memo_shift & 31);
	__u32 key = s->w.slot * entries + (((sp >> 4) + (sp >> 20) * 2531) & (entries - 1));

	return bpf_map_lookup_elem(&memos, &key);
}

/* True if the memo's caller is still the caller. Its return address is right below its stack pointer. */
static __always_inline bool memo_holds(struct sample *s, const struct sample_memo *m)
{
	__u64 at = m->caller_sp - 16, fp_at = m->fp_at ?: at;

	if ((m->word & BRAID_FRAME_ADDR_MASK) != s->w.pc)
		return false;
	if (!window_has(s, at, 16) || !window_has(s, fp_at, 8)) {
		if (!window_move(s, fp_at < at ? fp_at : at) || !window_has(s, at, 16) || !window_has(s, fp_at, 8))
			return false;
	}
	return window_word(s, at, 1) == m->caller_pc && (!m->fp_at || window_word(s, fp_at, 0) == m->caller_fp);
}

/* The same for an interpreted frame, whose words are all around its fp. */
static __always_inline bool memo_holds_interpreted(struct sample *s, const struct braid_layout *l,
						   const struct sample_memo *m)
{
	enum { FP = 8, METHOD = FP - 3, LAST_SP = FP - 2, SENDER_SP = FP - 1 };
	__u64 at = s->w.fp - 8 * FP, bcp;

	if (!l || !walk_in_interpreter(l, s->w.pc))
		return false;
	if (!window_has(s, at, 8 * (FP + 2)) && (!window_move(s, at) || !window_has(s, at, 8 * (FP + 2))))
		return false;
	/* It may be a new frame that has no method yet, see walk_interp_skeleton(). */
	if (s->w.code_pc && !window_word(s, at, LAST_SP))
		return false;
	bcp = window_word(s, at, l->interp_bcp == -FP ? 0 : 1);
	return bcp == m->bcp && window_word(s, at, METHOD) == braid_frame_method(m->word) &&
	       window_word(s, at, SENDER_SP) == m->caller_sp && window_word(s, at, FP) == m->caller_fp &&
	       window_word(s, at, FP + 1) == m->caller_pc;
}

/* Moves to the caller by the memo; false when the memo does not hold. */
static __always_inline bool memo_step(struct sample *s, const struct braid_layout *l, const struct sample_memo *m)
{
	struct braid_walk *w = &s->w;
	__u32 kind = m->owner & 3;

	if (m->sp != w->sp || m->fp != w->fp || (m->owner & ~3ULL) != s->owner)
		return false;
	if (kind == MEMO_INTERPRETED) {
		if (!memo_holds_interpreted(s, l, m))
			return false;
		w->interpreted++;
		w->bcp = m->bcp;
	} else if ((kind == MEMO_CODE && s->code_moves) || !memo_holds(s, m)) {
		return false;
	} else {
		w->fp_at = m->fp_at;
		w->code_pc = kind == MEMO_CODE ? walk_lookup_pc(w) : w->code_pc;
	}
	stack_push(s, m->word);
	if (kind == MEMO_NATIVE)
		w->native++;
	else
		w->java++;
	w->pc = m->caller_pc;
	w->sp = m->caller_sp;
	w->fp = m->caller_fp;
	return true;
}

static __always_inline void memo_store(const struct sample *s, struct sample_memo *m)
{
	const struct sample_from *from = &s->from;
	const struct braid_walk *w = &s->w;
	__u32 last = s->depth - 1;

	if (last >= BRAID_MAX_FRAMES)
		return;
	if (w->interpreted != from->interpreted) {
		m->owner = s->owner | MEMO_INTERPRETED;
		m->bcp = w->bcp;
	} else if (w->fp_at != WALK_FP_ELSEWHERE) {
		m->owner = s->owner | (w->java != from->java ? MEMO_CODE : MEMO_NATIVE);
		m->fp_at = w->fp_at;
	} else {
		return;
	}
	m->word = s->frames[last];
	m->sp = from->sp;
	m->fp = from->fp;
	m->caller_sp = w->sp;
	m->caller_pc = w->pc;
	m->caller_fp = w->fp;
}

#endif
