// SPDX-License-Identifier: Apache-2.0
/*
 * The stack walker: from the registers of an interrupted thread to its first frame, through native, compiled Java,
 * interpreted and stub frames. The same source is compiled into the eBPF programs and into the host's tests and tools.
 *
 * Whoever includes this file first defines what the walk may ask of its surroundings:
 *
 *	static long walk_read(struct braid_walk *w, void *to, __u32 size, __u64 address);
 *		copies memory of the walked process: 0, or not
 *	static bool walk_mapping(struct braid_walk *w, __u64 pc, struct braid_mapping *m);
 *		finds the executable mapping around pc
 *	static __u32 walk_rule(struct braid_walk *w, const struct braid_mapping *m, __u64 vaddr);
 *		the unwind rule in force at an ELF virtual address of the mapping's module
 *	static void walk_push(struct braid_walk *w, __u64 frame);
 *
 * and calls walk_step() until it returns non-zero or the depth limit is reached. A step pushes one frame and finds the next.
 *
 * Foreign facts, all x86-64: HotSpot frames as in hotspot/cpu/x86/frame_x86.hpp, compiled prologues and epilogues as in
 * MacroAssembler::verified_entry and the C1 and C2 epilogue emitters, code heap as in hotspot/share/memory/heap.cpp.
 */
#ifndef BRAID_WALK_H
#define BRAID_WALK_H

#include <braid/event.h>
#include <braid/frame.h>
#include <braid/unwind.h>

#ifdef __bpf__
#define WALK_FN static __attribute__((noinline))
#define WALK_INLINE static __attribute__((always_inline)) inline
#else
#define WALK_FN static
#define WALK_INLINE static inline
#endif

#define WALK_BLOB_BYTES 128 /* as much of a CodeBlob's header as the walk looks at */
#define WALK_SEGMAP_HOPS 24
#define WALK_MAX_FRAME_BYTES (1U << 20)
#define WALK_STUB_SLOTS 8 /* words above sp that are searched for a stub's return address */
#define WALK_GOING 0xffffffffU
#define WALK_FP_ELSEWHERE (~0ULL)

/*
 * The state of one walk. In BPF it lives in a map's value: too large for the stack, and there the verifier takes every number
 * in it for unknown, so that it needs to look at a step only once.
 */
struct braid_walk {
	__u64 pc;
	__u64 sp;
	__u64 fp;
	/* Registers that only the interrupted frame still has. */
	__u64 rbx;
	__u64 r10;
	__u64 r13;
	/* The CodeBlob of the frame before, because recursion asks for the same one again. */
	__u64 blob_low;
	__u64 blob_high;
	__u64 blob_code;
	__s32 blob_complete;
	__u32 blob_words;
	/* Where the last step read the caller's fp, 0: it is the callee's, or WALK_FP_ELSEWHERE. The return address of a step
	   that sets either of the first two lies below the caller's sp. */
	__u64 fp_at;
	__u64 bcp; /* of the last interpreted frame, as its stack slot has it */
	__u32 leaf; /* 1: registers are those of the instruction at pc; 0: pc is a return address */
	__u32 end;  /* WALK_GOING, or enum braid_end */
	__u32 java;   /* frames pushed: compiled, interpreted and stub */
	__u32 native; /* frames pushed */
	__u32 interpreted; /* of the java ones */
	/* Scratch. */
	__u8 blob[WALK_BLOB_BYTES];
	__u8 code[32];
	__u64 words[WALK_STUB_SLOTS];
};

static long walk_read(struct braid_walk *w, void *to, __u32 size, __u64 address);
static bool walk_mapping(struct braid_walk *w, __u64 pc, struct braid_mapping *m);
static __u32 walk_rule(struct braid_walk *w, const struct braid_mapping *m, __u64 vaddr);
static void walk_push(struct braid_walk *w, __u64 frame);

WALK_INLINE int walk_end(struct braid_walk *w, __u32 cause)
{
	w->end = cause;
	return 1;
}

/* The address whose function, rule and scope are meant: a return address may be the first byte of the next function. */
WALK_INLINE __u64 walk_lookup_pc(const struct braid_walk *w)
{
	return w->leaf ? w->pc : w->pc - 1;
}

WALK_INLINE __u64 walk_exact_bit(const struct braid_walk *w)
{
	return w->leaf ? BRAID_FRAME_EXACT : 0;
}

WALK_INLINE bool walk_in_interpreter(const struct braid_layout *l, __u64 pc)
{
	return pc >= l->interpreter_start && pc < l->interpreter_end;
}

/* The code heap around pc; BRAID_CODE_HEAPS when there is none. */
WALK_INLINE __u32 walk_heap(const struct braid_layout *l, __u64 pc)
{
	for (__u32 i = 0; i < BRAID_CODE_HEAPS; i++)
		if (pc >= l->heaps[i].low && pc < l->heaps[i].high)
			return i;
	return BRAID_CODE_HEAPS;
}

/* Moves on to the caller; its stack pointer must lie nearer to the root. */
WALK_INLINE int walk_to(struct braid_walk *w, __u64 pc, __u64 sp, __u64 fp)
{
	if (sp <= w->sp)
		return walk_end(w, BRAID_END_NO_PROGRESS);
	w->pc = pc;
	w->sp = sp;
	w->fp = fp;
	w->leaf = 0;
	if (!pc)
		return walk_end(w, fp ? BRAID_END_BAD_RA : BRAID_END_COMPLETE);
	return 0;
}

/* ---- compiled code and stubs ---- */

/* Finds the start of the block that segment `seg` belongs to: each byte of the map says how far back to go. */
WALK_INLINE int walk_segment_start(struct braid_walk *w, __u64 segmap, __u64 *seg)
{
	for (int i = 0; i < WALK_SEGMAP_HOPS; i++) {
		__u8 back;

		if (walk_read(w, &back, 1, segmap + *seg))
			return BRAID_END_READ_FAULT;
		if (back == 0)
			return 0;
		if (back == 0xff) /* free */
			return BRAID_END_NO_BLOB;
		*seg -= back;
	}
	return BRAID_END_NO_BLOB;
}

/* Loads the CodeBlob around pc: 0 or an enum braid_end. */
WALK_FN int walk_blob(struct braid_walk *w, const struct braid_layout *l, __u64 pc)
{
	__u32 h, log2;
	__u64 seg, low, blob;
	int err;

	if (pc >= w->blob_low && pc < w->blob_high)
		return 0;
	h = walk_heap(l, pc);
	if (h >= BRAID_CODE_HEAPS)
		return BRAID_END_NO_BLOB;
	low = l->heaps[h].low;
	log2 = l->heaps[h].log2_segment & 31;
	seg = (pc - low) >> log2;
	err = walk_segment_start(w, l->heaps[h].segmap, &seg);
	if (err)
		return err;
	blob = low + (seg << log2) + l->heap_block_header;
	if (walk_read(w, w->blob, WALK_BLOB_BYTES, blob))
		return BRAID_END_READ_FAULT;
	w->blob_words = *(__u32 *)(w->blob + (l->blob_frame_size & 0x7c));
	w->blob_low = blob;
	w->blob_high = blob + *(__u32 *)(w->blob + (l->blob_size & 0x7c));
	if (l->flags & BRAID_LAYOUT_SHORT_COMPLETE)
		w->blob_complete = *(__s16 *)(w->blob + (l->blob_frame_complete & 0x7e));
	else
		w->blob_complete = *(__s32 *)(w->blob + (l->blob_frame_complete & 0x7c));
	if (l->flags & BRAID_LAYOUT_CODE_OFFSET)
		w->blob_code = blob + *(__u32 *)(w->blob + (l->blob_code & 0x7c));
	else
		w->blob_code = *(__u64 *)(w->blob + (l->blob_code & 0x78));
	if (pc < w->blob_low || pc >= w->blob_high) {
		w->blob_low = w->blob_high = 0;
		return BRAID_END_NO_BLOB;
	}
	return 0;
}

/* How much of a compiled frame exists at an exact pc. */
enum walk_frame_state {
	WALK_FRAME_WHOLE,    /* return address at the frame's end, rbp below it */
	WALK_FRAME_NONE,     /* return address at sp */
	WALK_FRAME_RBP_ONLY, /* rbp at sp, return address above */
	WALK_FRAME_NO_RBP,   /* allocated, but rbp is still in its register */
};

/* code[0..15] are the bytes before pc, code[16..31] those from pc on. */
WALK_INLINE enum walk_frame_state walk_prologue(const __u8 *code)
{
	const __u8 *at = code + 16;

	if (at[-1] == 0x55) /* push rbp */
		return WALK_FRAME_RBP_ONLY;
	if (at[-4] == 0x55 && at[-3] == 0x48 && /* push rbp; mov rbp, rsp */
	    ((at[-2] == 0x8b && at[-1] == 0xec) || (at[-2] == 0x89 && at[-1] == 0xe5)))
		return WALK_FRAME_RBP_ONLY;
	if (at[0] == 0x48 && at[1] == 0x89 && (at[2] == 0x6c || at[2] == 0xac) && at[3] == 0x24) /* mov [rsp+n], rbp */
		return WALK_FRAME_NO_RBP;
	return WALK_FRAME_NONE;
}

/* At a return's safepoint poll or at the return itself the frame is gone already. */
WALK_INLINE enum walk_frame_state walk_epilogue(const __u8 *code)
{
	const __u8 *at = code + 16;

	if (at[0] == 0xc3) /* ret */
		return WALK_FRAME_NONE;
	if (at[0] == 0x5d) /* pop rbp */
		return WALK_FRAME_RBP_ONLY;
	if (at[0] == 0x0f && at[1] == 0x87 && at[6] == 0xc3) /* ja slow; ret */
		return WALK_FRAME_NONE;
	if (at[0] == 0x49 && at[1] == 0x3b && at[2] == 0xa7 && at[7] == 0x0f && at[8] == 0x87 &&
	    at[13] == 0xc3) /* cmp rsp, [r15+n]; ja slow; ret (JDK 16 and later) */
		return WALK_FRAME_NONE;
	if (at[0] == 0x85 && at[1] == 0x05 && at[6] == 0xc3) /* test eax, [rip+n]; ret (JDK 8) */
		return WALK_FRAME_NONE;
	if (at[0] == 0x4d && at[1] == 0x8b && at[2] == 0x97 && at[7] == 0x41 && at[8] == 0x85 && at[9] == 0x02 &&
	    at[10] == 0xc3) /* mov r10, [r15+n]; test [r10], eax; ret (JDK 10 to 15) */
		return WALK_FRAME_NONE;
	if (at[0] == 0x41 && at[1] == 0x85 && at[2] == 0x02 && at[3] == 0xc3)
		return WALK_FRAME_NONE;
	return WALK_FRAME_WHOLE;
}

WALK_FN int walk_frame_state(struct braid_walk *w)
{
	if (walk_read(w, w->code, sizeof(w->code), w->pc - 16))
		return WALK_FRAME_WHOLE;
	if ((__s64)(w->pc - w->blob_code) < w->blob_complete)
		return walk_prologue(w->code);
	return walk_epilogue(w->code);
}

/* Does the instruction before `pc` call? The opcodes of call rel32 and of call r/m64 in its lengths. */
WALK_INLINE bool walk_follows_call(struct braid_walk *w, __u64 pc)
{
	__u8 b[8];

	if (walk_read(w, b, 8, pc - 8))
		return false;
	return b[3] == 0xe8 || (b[6] == 0xff && (b[7] & 0x38) == 0x10) || (b[5] == 0xff && (b[6] & 0x38) == 0x10) ||
	       (b[4] == 0xff && (b[5] & 0x38) == 0x10) || (b[2] == 0xff && (b[3] & 0x38) == 0x10) ||
	       (b[1] == 0xff && (b[2] & 0x38) == 0x10);
}

WALK_INLINE bool walk_is_return_address(struct braid_walk *w, const struct braid_layout *l, __u64 pc)
{
	return walk_heap(l, pc) < BRAID_CODE_HEAPS && walk_follows_call(w, pc);
}

/* A stub that made a frame with enter() (push rbp; mov rbp, rsp). */
WALK_INLINE int walk_stub_rbp(struct braid_walk *w)
{
	__u64 f[2];

	if (walk_read(w, f, sizeof(f), w->fp))
		return walk_end(w, BRAID_END_READ_FAULT);
	w->fp_at = w->fp;
	return walk_to(w, f[1], w->fp + 16, f[0]);
}

/*
 * Code without a frame size: stub routines, adapters, vtable stubs. They either made a frame with enter(), or are about to,
 * or have none and may have pushed a few words: the caller's address is the nearest word that can be one.
 */
WALK_FN int walk_stub(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 fp;

	if (w->pc == l->call_stub_return)
		return walk_stub_rbp(w);
	if (walk_read(w, w->words, sizeof(w->words), w->sp))
		return walk_end(w, BRAID_END_READ_FAULT);
	for (int i = 0; i < WALK_STUB_SLOTS; i++) {
		if (!walk_is_return_address(w, l, w->words[i]))
			continue;
		fp = w->fp;
		if (i > 0 && fp == w->sp + 8 * (__u64)(i - 1))
			fp = w->words[i - 1];
		return walk_to(w, w->words[i], w->sp + 8 * (__u64)(i + 1), fp);
	}
	if (w->fp >= w->sp && w->fp - w->sp < 4096)
		return walk_stub_rbp(w);
	return walk_end(w, BRAID_END_BAD_CODE);
}

WALK_FN int walk_compiled(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 size, f[2];
	int state = WALK_FRAME_WHOLE, err;

	walk_push(w, (__u64)BRAID_FRAME_CODE_CACHE << 60 | walk_exact_bit(w) | (w->pc & BRAID_FRAME_ADDR_MASK));
	w->java++;
	err = walk_blob(w, l, walk_lookup_pc(w));
	if (err)
		return walk_end(w, (__u32)err);
	size = (__u64)w->blob_words * 8;
	if (size == 0 || size > WALK_MAX_FRAME_BYTES || (w->leaf && w->blob_complete < 0))
		return walk_stub(w, l);
	if (w->leaf)
		state = walk_frame_state(w);
	if (state == WALK_FRAME_NONE) {
		if (walk_read(w, f, 8, w->sp))
			return walk_end(w, BRAID_END_READ_FAULT);
		return walk_to(w, f[0], w->sp + 8, w->fp);
	}
	if (state == WALK_FRAME_RBP_ONLY)
		size = 16;
	if (walk_read(w, f, sizeof(f), w->sp + size - 16))
		return walk_end(w, BRAID_END_READ_FAULT);
	w->fp_at = state == WALK_FRAME_NO_RBP ? 0 : w->sp + size - 16;
	return walk_to(w, f[1], w->sp + size, state == WALK_FRAME_NO_RBP ? w->fp : f[0]);
}

/* ---- interpreter ---- */

/* The byte code index at `bcp`, or -1 when it does not lie in the method's code. */
WALK_INLINE __s32 walk_bci(struct braid_walk *w, const struct braid_layout *l, __u64 const_method, __u64 bcp)
{
	__u64 first = const_method + l->const_size;
	__u16 length;

	if (bcp < first || walk_read(w, &length, 2, const_method + l->const_code_size) || bcp - first >= length)
		return -1;
	return (__s32)(bcp - first);
}

/* An interpreted method's entry code runs before its frame is built: the caller is then at sp. */
WALK_INLINE int walk_interpreter_entry(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 ra;

	walk_push(w, (__u64)BRAID_FRAME_CODE_CACHE << 60 | walk_exact_bit(w) | (w->pc & BRAID_FRAME_ADDR_MASK));
	if (!w->leaf || walk_read(w, &ra, 8, w->sp))
		return walk_end(w, BRAID_END_BAD_INTERPRETER);
	if (!walk_is_return_address(w, l, ra))
		return walk_end(w, BRAID_END_BAD_INTERPRETER);
	return walk_to(w, ra, w->sp + 8, w->fp);
}

WALK_FN int walk_interpreter(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 method, const_method, bcp, sender_sp, f[2];
	__s32 bci;

	w->java++;
	if (w->fp < w->sp || w->fp - w->sp > WALK_MAX_FRAME_BYTES || (w->fp & 7) ||
	    walk_read(w, &method, 8, w->fp + 8 * (__s64)l->interp_method) || !method || (method & 7) ||
	    walk_read(w, &const_method, 8, method + l->method_const) ||
	    walk_read(w, &bcp, 8, w->fp + 8 * (__s64)l->interp_bcp) ||
	    walk_read(w, &sender_sp, 8, w->fp + 8 * (__s64)l->interp_sender_sp) || walk_read(w, f, sizeof(f), w->fp))
		return walk_interpreter_entry(w, l);
	bci = w->leaf ? walk_bci(w, l, const_method, w->r13) : -1;
	if (bci < 0)
		bci = walk_bci(w, l, const_method, bcp);
	if (bci < 0 && bcp != 0) /* native methods have none */
		return walk_interpreter_entry(w, l);
	w->interpreted++;
	w->bcp = bcp;
	walk_push(w, braid_frame_interpreted(method, bci < 0 ? BRAID_FRAME_BCI_NONE : (__u32)bci));
	if (sender_sp <= w->fp)
		return walk_end(w, BRAID_END_BAD_INTERPRETER);
	return walk_to(w, f[1], sender_sp, f[0]);
}

/* ---- native code ---- */

/* Linux's signal frame: at sp lies a ucontext with every register of the interrupted code (struct rt_sigframe). */
WALK_INLINE int walk_signal(struct braid_walk *w)
{
	enum { GREGS = 40, R10 = 2, R13 = 5, RBP = 10, RBX = 11, RSP = 15, RIP = 16 };
	__u64 context = w->sp;

	if (walk_read(w, &w->pc, 8, context + GREGS + 8 * RIP) || walk_read(w, &w->sp, 8, context + GREGS + 8 * RSP) ||
	    walk_read(w, &w->fp, 8, context + GREGS + 8 * RBP) || walk_read(w, &w->rbx, 8, context + GREGS + 8 * RBX) ||
	    walk_read(w, &w->r10, 8, context + GREGS + 8 * R10) || walk_read(w, &w->r13, 8, context + GREGS + 8 * R13))
		return walk_end(w, BRAID_END_READ_FAULT);
	w->leaf = 1;
	return 0;
}

/* Without CFI the frame pointer is all there is; it is believed only when it leads to code. */
WALK_INLINE int walk_frame_pointer(struct braid_walk *w, const struct braid_layout *l, __u32 cause)
{
	struct braid_mapping m;
	__u64 f[2];

	if (w->fp < w->sp || (w->fp & 7) || w->fp - w->sp > WALK_MAX_FRAME_BYTES || walk_read(w, f, sizeof(f), w->fp))
		return walk_end(w, cause);
	if (!f[1] && !f[0])
		return walk_end(w, BRAID_END_COMPLETE);
	if (!walk_mapping(w, f[1] - 1, &m) && !(l && walk_heap(l, f[1]) < BRAID_CODE_HEAPS))
		return walk_end(w, cause);
	return walk_to(w, f[1], w->fp + 16, f[0]);
}

/* The canonical frame address by `rule`: 0 or an enum braid_end. */
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

WALK_FN int walk_native(struct braid_walk *w, const struct braid_layout *l)
{
	struct braid_mapping m = {0};
	__u64 cfa = 0, fp = 0, ra = 0;
	__u32 rule;
	int err;

	walk_push(w, walk_exact_bit(w) | (w->pc & BRAID_FRAME_ADDR_MASK));
	w->native++;
	if (!walk_mapping(w, walk_lookup_pc(w), &m))
		return walk_end(w, w->leaf ? BRAID_END_NO_MAPPING : BRAID_END_BAD_RA);
	if (m.table == BRAID_NO_TABLE)
		return walk_frame_pointer(w, l, BRAID_END_NO_TABLE);
	rule = walk_rule(w, &m, walk_lookup_pc(w) - m.bias);
	switch (braid_rule_cfa(rule)) {
	case BRAID_CFA_NONE:
		return walk_frame_pointer(w, l, BRAID_END_NO_CFI);
	case BRAID_CFA_ROOT:
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
	return walk_to(w, ra, cfa, fp);
}

/*
 * Pushes the frame at pc and moves to its caller: 0, or 1 when the walk is over and w->end says why. `l` is NULL when the
 * process is no JVM.
 */
WALK_INLINE int walk_step(struct braid_walk *w, const struct braid_layout *l)
{
	w->fp_at = WALK_FP_ELSEWHERE;
	if (l && (l->flags & BRAID_LAYOUT_WALKABLE)) {
		__u64 pc = walk_lookup_pc(w);

		if (walk_in_interpreter(l, pc))
			return walk_interpreter(w, l);
		if (walk_heap(l, pc) < BRAID_CODE_HEAPS)
			return walk_compiled(w, l);
	}
	return walk_native(w, l);
}

#endif
