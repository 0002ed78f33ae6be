// SPDX-License-Identifier: Apache-2.0
/* Steps over native code: by unwind rules, by signal frames, and without either. walk.h calls it. */
#ifndef BRAID_WALK_NATIVE_H
#define BRAID_WALK_NATIVE_H

#include <braid/walk/stub.h>

/* Linux's signal frame: at sp is a ucontext with all registers of the interrupted code (struct rt_sigframe). */
WALK_INLINE int walk_signal(struct braid_walk *w)
{
	enum { GREGS = 40, R10 = 2, R13 = 5, RBP = 10, RBX = 11, RAX = 13, RSP = 15, RIP = 16 };
	__u64 context = w->sp;

	if (walk_read(w, &w->pc, 8, context + GREGS + 8 * RIP) || walk_read(w, &w->sp, 8, context + GREGS + 8 * RSP) ||
	    walk_read(w, &w->fp, 8, context + GREGS + 8 * RBP) || walk_read(w, &w->rax, 8, context + GREGS + 8 * RAX) ||
	    walk_read(w, &w->rbx, 8, context + GREGS + 8 * RBX) ||
	    walk_read(w, &w->r10, 8, context + GREGS + 8 * R10) || walk_read(w, &w->r13, 8, context + GREGS + 8 * R13))
		return walk_end(w, BRAID_END_READ_FAULT);
	w->leaf = 1;
	return 0;
}

/*
 * True at the return of clone3() and clone() in a new thread, which has no caller there: syscall; test rax, rax; jl n;
 * je n. The C library's CFI ends at the call.
 */
WALK_PART bool walk_is_new_thread(struct braid_walk *w)
{
	const __u8 *p;

	if (!w || !w->leaf || w->rax || walk_code(w))
		return false;
	p = w->code + WALK_CODE_BEFORE - 2;
	for (int i = 0; i < 3; i++) {
		if (p[0] == 0x0f && p[1] == 0x05 && p[2] == 0x48 && p[3] == 0x85 && p[4] == 0xc0 && p[5] == 0x7c &&
		    p[7] == 0x74)
			return true;
		p -= i ? 2 : 3;
	}
	return false;
}

/*
 * Without CFI two guesses remain. A leaf may be assembly that has left the stack alone (or a jump to the interpreter
 * in the class data archive of JDK 11). Otherwise the frame pointer is trusted if it leads to code.
 */
WALK_INLINE int walk_frame_pointer(struct braid_walk *w, const struct braid_layout *l, __u32 cause)
{
	__u64 f[2];

	if (walk_is_new_thread(w))
		return walk_end(w, BRAID_END_COMPLETE);
	if (w->leaf && !walk_read(w, f, 8, w->sp) &&
	    (walk_is_java_caller(w, l, f[0]) || walk_is_trampoline(w, f[0]) || walk_is_native_caller(w, f[0])))
		return walk_to(w, f[0], l ? walk_sender_sp(w, l, f[0], w->sp + 8) : w->sp + 8, w->fp);
	if (w->fp < w->sp || (w->fp & 7) || w->fp - w->sp > WALK_MAX_FRAME_BYTES || walk_read(w, f, sizeof(f), w->fp))
		return walk_end(w, cause);
	if (!f[1] && !f[0])
		return walk_end(w, BRAID_END_COMPLETE);
	if (!walk_mapping(w, f[1] - 1, NULL) && !walk_is_trampoline(w, f[1]) &&
	    !(l && walk_heap(l, f[1]) < BRAID_CODE_HEAPS))
		return walk_end(w, cause);
	return walk_to(w, f[1], w->fp + 16, f[0]);
}

#define WALK_RESOLVER_FRAME 32 /* above rbx: saved rbx, the library, its slot's number, the return address */
#define WALK_RESOLVER_SLOTS (1U << 24)

/*
 * The C library binds a function at its first call (_dl_runtime_resolve). It saves all possible arguments on a stack
 * that it aligns, so only rbx leads to its frame, and its callees have saved rbx somewhere. Searches some words from
 * `at` for those that the PLT has pushed. Returns the frame's offset from sp, 0 when not found, -1 when unreadable.
 */
WALK_PART int walk_resolver_frame(struct braid_walk *w, __u64 at)
{
	__u64 f[4];

	if (!w)
		return -1;
	for (int i = 0; i < WALK_STUB_SLOTS; i++, at += 8) {
		if (walk_read(w, f, sizeof(f), at))
			return -1;
		if (f[1] >= WALK_RESOLVER_SLOTS && !(f[1] & 7) && f[2] < WALK_RESOLVER_SLOTS &&
		    walk_is_native_caller(w, f[3]))
			return (int)(at - w->sp);
	}
	return 0;
}

/* The frame is above all saved registers of the processor. Returns its offset from sp, or -1. */
WALK_PART int walk_find_resolver(struct braid_walk *w)
{
	int up = 0;

	if (!w)
		return -1;
	for (int i = 8; !up && i < WALK_SEARCH_WORDS; i += WALK_STUB_SLOTS)
		up = walk_resolver_frame(w, w->sp + 8 * (__u64)i);
	return up > 0 ? up : -1;
}

/* Finds the CFA by rbx: 0 or an enum braid_end. */
WALK_INLINE int walk_cfa_rbx(struct braid_walk *w, __u64 offset, __u64 *cfa)
{
	int up = -1;

	*cfa = w->rbx + offset;
	if (w->leaf)
		return 0;
	if (offset == WALK_RESOLVER_FRAME)
		up = walk_find_resolver(w);
	*cfa = w->sp + (__u64)(__s64)up + offset;
	return up < 0 ? BRAID_END_BAD_CFI : 0;
}

/* Finds the canonical frame address by `rule`: 0 or an enum braid_end. */
WALK_INLINE int walk_cfa(struct braid_walk *w, __u32 rule, __u64 *cfa)
{
	__u64 offset = (__u64)braid_rule_cfa_offset(rule);

	switch (braid_rule_cfa(rule)) {
	case BRAID_CFA_RSP:
		*cfa = w->sp + offset;
		return 0;
	case BRAID_CFA_RBP:
		*cfa = w->fp + offset;
		return 0;
	case BRAID_CFA_DEREF_RBP:
		return walk_read(w, cfa, 8, w->fp + offset) ? BRAID_END_READ_FAULT : 0;
	case BRAID_CFA_DEREF_RSP:
		return walk_read(w, cfa, 8, w->sp + offset) ? BRAID_END_READ_FAULT : 0;
	case BRAID_CFA_R10:
		*cfa = w->r10 + offset;
		return w->leaf ? 0 : BRAID_END_BAD_CFI;
	case BRAID_CFA_RBX:
		return walk_cfa_rbx(w, offset, cfa);
	case BRAID_CFA_PLT:
		*cfa = w->sp + 8 + ((w->pc & 15) >= 11 ? 8 : 0);
		return 0;
	default:
		return BRAID_END_BAD_CFI;
	}
}

WALK_INLINE int walk_caller_fp(struct braid_walk *w, __u32 rule, __u64 cfa, __u64 *fp)
{
	__u64 offset = (__u64)braid_rule_rbp_offset(rule);

	*fp = w->fp;
	w->fp_at = 0;
	if (braid_rule_rbp(rule) == BRAID_RBP_CFA)
		w->fp_at = cfa + offset;
	else if (braid_rule_rbp(rule) == BRAID_RBP_RBP)
		w->fp_at = w->fp + offset;
	else
		return 0;
	return walk_read(w, fp, 8, w->fp_at) ? BRAID_END_READ_FAULT : 0;
}

/* Beside the kinds of <braid/unwind.h>: why there is no rule. */
enum { WALK_CFA_NO_TABLE = 14, WALK_CFA_NO_MAPPING = 15 };

WALK_PART __u32 walk_rule_find(struct braid_walk *w, __u64 pc)
{
	struct braid_mapping m = {0};

	if (!w || !walk_mapping(w, pc, &m))
		return WALK_CFA_NO_MAPPING;
	return m.table == BRAID_NO_TABLE ? WALK_CFA_NO_TABLE : walk_rule(w, &m, pc - m.bias);
}

/* An including file that caches rules defines this name and the function. */
#ifdef WALK_RULE_AT
static __u32 walk_rule_at(struct braid_walk *w, __u64 pc);
#else
WALK_INLINE __u32 walk_rule_at(struct braid_walk *w, __u64 pc)
{
	return walk_rule_find(w, pc);
}
#endif

/* `l` may be NULL. */
WALK_PART int walk_native(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 cfa = 0, fp = 0, ra = 0;
	__u32 rule, kind;
	int err;

	if (!w)
		return 1;
	rule = walk_rule_at(w, walk_lookup_pc(w));
	kind = braid_rule_cfa(rule);
	/* A return address outside all mappings is no frame. */
	if (kind == WALK_CFA_NO_MAPPING && !w->leaf)
		return walk_end(w, BRAID_END_BAD_RA);
	walk_push(w, walk_exact_bit(w) | (w->pc & BRAID_FRAME_ADDR_MASK));
	w->native++;
	switch (kind) {
	case WALK_CFA_NO_MAPPING:
		return walk_end(w, BRAID_END_NO_MAPPING);
	case WALK_CFA_NO_TABLE:
		return walk_frame_pointer(w, l, BRAID_END_NO_TABLE);
	case BRAID_CFA_NONE:
		return walk_frame_pointer(w, l, BRAID_END_NO_CFI);
	case BRAID_CFA_ROOT:
		w->fp_at = 0; /* nothing was read */
		return walk_end(w, BRAID_END_COMPLETE);
	case BRAID_CFA_SIGNAL:
		return walk_signal(w);
	}
	err = walk_cfa(w, rule, &cfa);
	if (!err)
		err = walk_caller_fp(w, rule, cfa, &fp);
	if (err)
		return walk_end(w, (__u32)err);
	if (walk_read(w, &ra, 8, cfa - 8))
		return walk_end(w, BRAID_END_READ_FAULT);
	/* The words alone do not say that the step would be the same again. */
	if (kind != BRAID_CFA_RSP && kind != BRAID_CFA_RBP && kind != BRAID_CFA_PLT)
		w->fp_at = WALK_FP_ELSEWHERE;
	return walk_to(w, ra, cfa, fp);
}

#endif
