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
 * and calls walk_step() until it returns non-zero or the depth limit is reached. A step pushes one frame and finds the
 *next.
 *
 * Foreign facts, all x86-64: HotSpot frames as in hotspot/cpu/x86/frame_x86.hpp, compiled prologues and epilogues as in
 * MacroAssembler::verified_entry and the C1 and C2 epilogue emitters, code heap as in hotspot/share/memory/heap.cpp.
 */
#ifndef BRAID_WALK_H
#define BRAID_WALK_H

#include <braid/event.h>
#include <braid/frame.h>
#include <braid/unwind.h>

/*
 * WALK_PART is a function that the BPF verifier looks at once and on its own, whatever it is called with; it takes
 * nothing for granted but that its pointers, when they are not NULL, lead to whole structures. WALK_FN is verified at
 * each call.
 */
#ifdef __bpf__
#define WALK_PART __attribute__((noinline))
#define WALK_FN static __attribute__((noinline))
#define WALK_INLINE static __attribute__((always_inline)) inline
#else
#define WALK_PART static
#define WALK_FN static
#define WALK_INLINE static inline
#endif

#define WALK_BLOB_BYTES 128 /* as much of a CodeBlob's header as the walk looks at */
#define WALK_SEGMAP_HOPS 24
#define WALK_MAX_FRAME_BYTES (1U << 20)
#define WALK_MAX_STUB_BYTES (8U << 10) /* of a stub routine's frame */
#define WALK_CODE_BEFORE 32	       /* bytes of code that are looked at around an exact pc */
#define WALK_CODE_BYTES 56
#define WALK_STUB_SLOTS 16 /* words above sp that are searched for a stub's return address */
#define WALK_LIFTS 64	   /* words that compiled code may have on top of its frame (JDK 8: around arithmetic) */
#define WALK_GOING 0xffffffffU
#define WALK_FP_ELSEWHERE (~0ULL)

/*
 * The state of one walk. In BPF it lives in a map's value: too large for the stack, and there the verifier takes every
 * number in it for unknown, so that it needs to look at a step only once.
 */
struct braid_walk {
	__u64 pc;
	__u64 sp;
	__u64 fp;
	/* Registers that only the interrupted frame still has. */
	__u64 rax;
	__u64 rbx;
	__u64 r10;
	__u64 r13;
	/* The CodeBlob of the frame before, because recursion asks for the same one again. */
	__u64 blob_low;
	__u64 blob_high;
	__u64 blob_code;
	__s32 blob_complete;
	__u32 blob_words;
	/* Where the last step read the caller's fp, 0: it is the callee's, or WALK_FP_ELSEWHERE. The return address of
	   a step that sets either of the first two lies below the caller's sp. */
	__u64 fp_at;
	__u64 bcp;	   /* of the last interpreted frame, as its stack slot has it */
	__u32 leaf;	   /* 1: registers are those of the instruction at pc; 0: pc is a return address */
	__u32 end;	   /* WALK_GOING, or enum braid_end */
	__u32 java;	   /* frames pushed: compiled, interpreted and stub */
	__u32 native;	   /* frames pushed */
	__u32 interpreted; /* of the java ones */
	__u32 reserved;
	/* Scratch. */
	__u64 words[WALK_STUB_SLOTS];
	__u8 blob[WALK_BLOB_BYTES];
	__u8 code[WALK_CODE_BYTES];
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

/*
 * Moves on to the caller; its stack pointer must lie nearer to the root. A leaf may have left all that was its own
 * already.
 */
WALK_INLINE int walk_to(struct braid_walk *w, __u64 pc, __u64 sp, __u64 fp)
{
	if (sp < w->sp || (sp == w->sp && !w->leaf))
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
WALK_PART int walk_blob(struct braid_walk *w, const struct braid_layout *l, __u64 pc)
{
	__u32 h, log2;
	__u64 seg, low, blob;
	int err;

	if (!w || !l)
		return BRAID_END_NO_BLOB;
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

/* Does the instruction before `pc` call? The opcodes of call rel32 and of call r/m64 in its lengths. */
WALK_PART bool walk_follows_call(struct braid_walk *w, __u64 pc)
{
	__u8 b[8];

	if (!w)
		return false;
	if (walk_read(w, b, 8, pc - 8))
		return false;
	return b[3] == 0xe8 || (b[6] == 0xff && (b[7] & 0x38) == 0x10) || (b[5] == 0xff && (b[6] & 0x38) == 0x10) ||
	       (b[4] == 0xff && (b[5] & 0x38) == 0x10) || (b[2] == 0xff && (b[3] & 0x38) == 0x10) ||
	       (b[1] == 0xff && (b[2] & 0x38) == 0x10);
}

/* The interpreter returns to addresses that it pushed itself, behind no call. */
WALK_PART bool walk_is_java_caller(struct braid_walk *w, const struct braid_layout *l, __u64 pc)
{
	if (!w || !l)
		return false;
	if (walk_in_interpreter(l, pc))
		return true;
	return walk_heap(l, pc) < BRAID_CODE_HEAPS && walk_follows_call(w, pc);
}

/* The VM calls some stubs as if they were functions in C: their callers may be anywhere. */
WALK_PART bool walk_is_caller(struct braid_walk *w, const struct braid_layout *l, __u64 pc)
{
	if (!w || !l)
		return false;
	return walk_in_interpreter(l, pc) || walk_follows_call(w, pc);
}

/* How much of a frame exists at an exact pc. */
enum walk_frame_state {
	WALK_FRAME_WHOLE,    /* return address at the frame's end, rbp below it */
	WALK_FRAME_NONE,     /* return address at sp */
	WALK_FRAME_RBP_ONLY, /* rbp at sp, return address above */
	WALK_FRAME_NO_RBP,   /* allocated, but rbp is still in its register */
	WALK_FRAME_LOST,     /* the return address is not on the stack */
};

/* mov rbp, rsp behind push rbp, in both of its encodings */
WALK_INLINE bool walk_is_enter(const __u8 *p)
{
	return p[0] == 0x55 && p[1] == 0x48 && ((p[2] == 0x8b && p[3] == 0xec) || (p[2] == 0x89 && p[3] == 0xe5));
}

/* push rbp; sub rsp, n */
WALK_INLINE bool walk_is_push_sub(const __u8 *p)
{
	return p[0] == 0x55 && p[1] == 0x48 && (p[2] == 0x83 || p[2] == 0x81) && p[3] == 0xec;
}

/*
 * In code that comes before a frame is complete; `at` is that at pc, `before` as many bytes in front belong to the same
 * code. After its stack is allocated a method may still pass its entry barrier.
 */
WALK_INLINE enum walk_frame_state walk_prologue(const __u8 *at, __u32 before)
{
	bool allocated = false;

	/* A poll's handler makes room for the address first, and only later gets it from the thread. */
	if (at[0] == 0x53 && walk_is_enter(at + 1)) /* push rbx; push rbp */
		return WALK_FRAME_LOST;
	if (before >= 1 && at[-1] == 0x53 && walk_is_enter(at))
		return WALK_FRAME_LOST;
	if (before >= 2 && at[-2] == 0x53 && walk_is_enter(at - 1))
		return WALK_FRAME_LOST;
	if (before >= 1 && at[-1] == 0x55)
		return WALK_FRAME_RBP_ONLY;
	if (before >= 4 && walk_is_enter(at - 4))
		return WALK_FRAME_RBP_ONLY;
	for (__u32 i = 4; i <= WALK_CODE_BEFORE; i++) {
		const __u8 *p = at - i;

		if (i > before)
			break;
		if (p[0] == 0x48 && p[2] == 0xec && (p[1] == 0x83 || (p[1] == 0x81 && i >= 7))) /* sub rsp, n */
			allocated = true;
		if (walk_is_enter(p))
			allocated = true;
	}
	if (!allocated)
		return WALK_FRAME_NONE;
	if (at[0] == 0x48 && at[1] == 0x89 && (at[2] == 0x6c || at[2] == 0xac) && at[3] == 0x24) /* mov [rsp+n], rbp */
		return WALK_FRAME_NO_RBP;
	return WALK_FRAME_WHOLE;
}

/* The safepoint poll of a return, and the return: the frame is gone. */
WALK_INLINE bool walk_is_return(const __u8 *at)
{
	if (at[0] == 0xc3) /* ret */
		return true;
	if (at[0] == 0x0f && (at[1] == 0x87 || at[1] == 0x85) && at[6] == 0xc3) /* ja or jne slow; ret */
		return true;
	if (at[0] == 0x49 && at[1] == 0x3b && at[2] == 0xa7 && at[7] == 0x0f && at[8] == 0x87 &&
	    at[13] == 0xc3) /* cmp rsp, [r15+n]; ja slow; ret (JDK 16 and later) */
		return true;
	if (at[0] == 0x49 && at[1] == 0x3b && at[2] == 0x67 && at[4] == 0x0f && at[5] == 0x87 && at[10] == 0xc3)
		return true;
	if (at[0] == 0x85 && at[1] == 0x05 && at[6] == 0xc3) /* test [rip+n], eax; ret (JDK 8) */
		return true;
	if (at[0] == 0x41 && at[1] == 0x85 && at[2] == 0x02 && at[3] == 0xc3) /* test [r10], eax; ret */
		return true;
	if (at[0] == 0x49 && at[1] == 0xba && at[10] == 0x41 && at[11] == 0x85 && at[12] == 0x02 &&
	    at[13] == 0xc3) /* mov r10, n; test [r10], eax; ret (JDK 8) */
		return true;
	return at[0] == 0x4d && at[1] == 0x8b && at[2] == 0x97 && at[7] == 0x41 && at[8] == 0x85 && at[9] == 0x02 &&
	       at[10] == 0xc3; /* mov r10, [r15+n]; test [r10], eax; ret (JDK 10 to 15) */
}

/* The slow path of a return's poll (JDK 16 and later): lea or mov r10, poll; mov [r15+n], r10; jmp handler. */
WALK_INLINE bool walk_is_slow_return(const __u8 *at)
{
	if (at[0] == 0x4c && at[1] == 0x8d && at[2] == 0x15 && at[7] == 0x4d && at[8] == 0x89 && at[9] == 0x97 &&
	    at[14] == 0xe9)
		return true;
	if (at[0] == 0x49 && at[1] == 0xba && at[10] == 0x4d && at[11] == 0x89 && at[12] == 0x97 && at[17] == 0xe9)
		return true;
	if (at[0] == 0x4d && at[1] == 0x89 && at[2] == 0x97 && at[7] == 0xe9)
		return true;
	return at[0] == 0xe9 && at[-7] == 0x4d && at[-6] == 0x89 && at[-5] == 0x97;
}

/* Right behind add rsp, n; pop rbp: what follows may be a jump to another function, too. */
WALK_INLINE bool walk_is_popped(const __u8 *at)
{
	return at[-1] == 0x5d && ((at[-5] == 0x48 && at[-4] == 0x83 && at[-3] == 0xc4) ||
				  (at[-8] == 0x48 && at[-7] == 0x81 && at[-6] == 0xc4));
}

/*
 * A native method's wrapper resets its handle block and leaves; then it looks for a safepoint (JDK 25) and an
 * exception. Its returns are far apart from its leave, but nothing is between them that has a frame.
 */
WALK_INLINE bool walk_is_left(const struct braid_walk *w, const __u8 *at)
{
	__s32 relative = (__s32)((__u32)at[1] | (__u32)at[2] << 8 | (__u32)at[3] << 16 | (__u32)at[4] << 24);
	__u64 target = w->pc + 5 + (__u64)(__s64)relative;
	__u32 left = 0;

	if (at[0] == 0x49 && at[1] == 0x83 && at[2] == 0x7f && at[3] == 0x08 && at[5] == 0x0f && at[6] == 0x85 &&
	    at[11] == 0xc3) /* cmp [r15+8], 0; jne slow; ret */
		return true;
	if (at[0] == 0x49 && at[1] == 0x81 && at[2] == 0x7f && at[3] == 0x08 && at[8] == 0x0f && at[9] == 0x85 &&
	    at[14] == 0xc3)
		return true;
	if (at[-1] == 0xc3 && at[0] == 0xe9 &&
	    (target < w->blob_low || target >= w->blob_high)) /* ret; jmp forward_exception */
		return true;
	for (int i = WALK_CODE_BEFORE; i >= 5; i--) {
		const __u8 *p = at - i;

		/* Without branches: with them the verifier looks at every combination, 380,000 instructions. */
		left |= ((__u32)(p[0] | p[1] | p[2] | p[3] | (p[4] ^ 0xc9)) - 1) >> 31;
		left &= ~(((__u32)(p[4] ^ 0xc3) - 1) >> 31);
	}
	return left & 1;
}

WALK_INLINE enum walk_frame_state walk_epilogue(const struct braid_walk *w, const __u8 *at)
{
	if (at[0] == 0x5d) /* pop rbp */
		return WALK_FRAME_RBP_ONLY;
	if (walk_is_return(at) || walk_is_slow_return(at) || walk_is_popped(at) || walk_is_left(w, at))
		return WALK_FRAME_NONE;
	/* The entry of a loop's compiled form lies in the middle of the method (C1). */
	if (walk_is_push_sub(at))
		return WALK_FRAME_NONE;
	if (walk_is_push_sub(at - 1))
		return WALK_FRAME_RBP_ONLY;
	if (at[0] == 0x89 && at[1] == 0x84 && at[2] == 0x24 && walk_is_push_sub(at + 7)) /* mov [rsp-n], eax */
		return WALK_FRAME_NONE;
	return WALK_FRAME_WHOLE;
}

/* Loads the code around an exact pc. */
WALK_INLINE long walk_code(struct braid_walk *w)
{
	return walk_read(w, w->code, sizeof(w->code), w->pc - WALK_CODE_BEFORE);
}

WALK_PART int walk_frame_state(struct braid_walk *w)
{
	__s64 complete;
	__u64 into;

	if (!w)
		return WALK_FRAME_WHOLE;
	into = w->pc - w->blob_code;
	/* Handlers are never said to be complete. */
	complete = w->blob_complete < 0 ? WALK_CODE_BEFORE : w->blob_complete;
	if ((__s64)into < complete)
		return walk_prologue(w->code + WALK_CODE_BEFORE,
				     into < WALK_CODE_BEFORE ? (__u32)into : WALK_CODE_BEFORE);
	return walk_epilogue(w, w->code + WALK_CODE_BEFORE);
}

/* A frame that begins with enter(): rbp leads to it as long as the code is between that and leave. */
WALK_INLINE int walk_rbp_frame(struct braid_walk *w)
{
	__u64 f[2];

	if (walk_read(w, f, sizeof(f), w->fp))
		return walk_end(w, BRAID_END_READ_FAULT);
	w->fp_at = w->fp;
	return walk_to(w, f[1], w->fp + 16, f[0]);
}

/* Can there be a return address at `at`? That of a deoptimised caller, or of its exception handler, follows no call. */
WALK_PART bool walk_has_caller(struct braid_walk *w, const struct braid_layout *l, __u64 at)
{
	__u64 pc;

	if (!w || !l || walk_read(w, &pc, 8, at))
		return false;
	return walk_heap(l, pc) < BRAID_CODE_HEAPS || walk_follows_call(w, pc);
}

/* Is rbp the base of a frame of at most `size` bytes at sp, with a caller above it? */
WALK_FN bool walk_has_rbp_frame(struct braid_walk *w, const struct braid_layout *l, __u64 size)
{
	return w->fp >= w->sp && !(w->fp & 7) && w->fp - w->sp <= size && walk_has_caller(w, l, w->fp + 8);
}

enum walk_stub_kind {
	WALK_STUB_ROUTINE, /* mostly with enter() */
	WALK_STUB_ADAPTER, /* between compiled and interpreted calls: moves the return address and the stack pointer */
	WALK_STUB_OTHER,   /* jumps on, with the return address at sp */
};

/* By the first letters of the blob's name. */
WALK_PART enum walk_stub_kind walk_stub_kind(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 name;

	if (!w || !l)
		return WALK_STUB_OTHER;
	name = *(__u64 *)(w->blob + (l->blob_name & 0x78));
	if (walk_read(w, &name, 8, name))
		return WALK_STUB_OTHER;
	if (name == 0x74756f5262757453ULL) /* StubRout */
		return WALK_STUB_ROUTINE;
	return name == 0x204932432f433249ULL /* I2C/C2I_ */ ? WALK_STUB_ADAPTER : WALK_STUB_OTHER;
}

/* An exact pc that the code around it tells the state of: true when the step is done. */
WALK_FN bool walk_stub_edge(struct braid_walk *w, const struct braid_layout *l)
{
	const __u8 *at = w->code + WALK_CODE_BEFORE;

	if (walk_code(w) || walk_read(w, w->words, 16, w->sp))
		return false;
	if ((at[0] == 0xc3 || walk_is_enter(at)) && walk_is_caller(w, l, w->words[0])) {
		walk_to(w, w->words[0], w->sp + 8, w->fp);
		return true;
	}
	if ((at[0] == 0x5d || walk_is_enter(at - 1)) && walk_is_caller(w, l, w->words[1])) {
		walk_to(w, w->words[1], w->sp + 16, w->words[0]);
		return true;
	}
	return false;
}

/* An adapter to the interpreter makes room for arguments below its caller's stack pointer, which r13 keeps. */
WALK_INLINE __u64 walk_sender_sp(struct braid_walk *w, __u64 sp)
{
	return w->leaf && w->r13 > sp && !(w->r13 & 7) && w->r13 - sp <= WALK_MAX_STUB_BYTES ? w->r13 : sp;
}

/* The nearest word that can be a return address. */
WALK_FN int walk_stub_search(struct braid_walk *w, const struct braid_layout *l, enum walk_stub_kind kind)
{
	bool adapter = kind == WALK_STUB_ADAPTER;
	__u64 fp, sp;

	if (walk_read(w, w->words, sizeof(w->words), w->sp))
		return walk_end(w, BRAID_END_READ_FAULT);
	if (w->leaf && walk_is_caller(w, l, w->words[0])) {
		sp = w->sp + 8;
		return walk_to(w, w->words[0], adapter ? walk_sender_sp(w, sp) : sp, w->fp);
	}
	/* Adapters take it from the stack for a moment, method handle linkers to get at the argument below. */
	if (kind != WALK_STUB_ROUTINE && w->leaf && walk_is_java_caller(w, l, w->rax))
		return walk_to(w, w->rax, adapter ? walk_sender_sp(w, w->sp) : w->sp, w->fp);
	for (int i = 0; i < WALK_STUB_SLOTS; i++) {
		if (!walk_is_java_caller(w, l, w->words[i]))
			continue;
		sp = w->sp + 8 * (__u64)(i + 1);
		fp = w->fp;
		if (i > 0 && fp == sp - 16)
			fp = w->words[i - 1];
		return walk_to(w, w->words[i], sp, fp);
	}
	return walk_end(w, BRAID_END_BAD_CODE);
}

/* Code without a frame size: stub routines, adapters, vtable stubs. */
WALK_FN int walk_stub(struct braid_walk *w, const struct braid_layout *l)
{
	enum walk_stub_kind kind;

	if (w->pc == l->call_stub_return)
		return walk_rbp_frame(w);
	if (w->leaf && walk_stub_edge(w, l))
		return w->end != WALK_GOING;
	kind = walk_stub_kind(w, l);
	if (kind == WALK_STUB_ROUTINE && walk_has_rbp_frame(w, l, WALK_MAX_STUB_BYTES))
		return walk_rbp_frame(w);
	return walk_stub_search(w, l, kind);
}

/* To the caller above `size` bytes of frame; the words below its address are rbp, when that is saved. */
WALK_FN int walk_sized(struct braid_walk *w, __u64 size, bool rbp_saved)
{
	__u64 f[2]; /* of a frame of 8 bytes, the first lies below sp */

	if (walk_read(w, f, sizeof(f), w->sp + size - 16))
		return walk_end(w, BRAID_END_READ_FAULT);
	w->fp_at = rbp_saved ? w->sp + size - 16 : 0;
	return walk_to(w, f[1], w->sp + size, rbp_saved ? f[0] : w->fp);
}

/*
 * How many bytes code has pushed on top of its frame of `size` bytes: -1 when the frame has no caller anyway. Only the
 * compilers of JDK 8 move the stack pointer within a method, around arithmetic.
 */
WALK_PART int walk_lift(struct braid_walk *w, const struct braid_layout *l, __u64 size)
{
	__u64 pc;

	if (!w || !l)
		return -1;
	if (walk_has_caller(w, l, w->sp + size - 8))
		return 0;
	if ((l->flags & (BRAID_LAYOUT_CODE_OFFSET | BRAID_LAYOUT_SHORT_COMPLETE)) != BRAID_LAYOUT_CODE_OFFSET ||
	    w->blob_complete < 0)
		return -1;
	for (int lift = 8; lift <= 8 * WALK_LIFTS; lift += 8) {
		if (walk_read(w, &pc, 8, w->sp + size - 8 + (__u64)lift))
			return -1;
		if (walk_is_java_caller(w, l, pc))
			return lift;
	}
	return -1;
}

WALK_FN int walk_compiled_whole(struct braid_walk *w, const struct braid_layout *l, __u64 size, bool rbp_saved)
{
	int lift = walk_lift(w, l, size);

	if (lift < 0)
		return walk_end(w, BRAID_END_BAD_CODE);
	return walk_sized(w, size + (__u64)lift, rbp_saved);
}

WALK_FN int walk_compiled_leaf(struct braid_walk *w, const struct braid_layout *l, __u64 size)
{
	int state;

	if (walk_code(w))
		return walk_end(w, BRAID_END_READ_FAULT);
	state = walk_frame_state(w);
	if (state == WALK_FRAME_LOST)
		return walk_end(w, BRAID_END_BAD_CODE);
	if (state == WALK_FRAME_NONE && walk_has_caller(w, l, w->sp))
		return walk_sized(w, 8, false);
	if (state == WALK_FRAME_RBP_ONLY && walk_has_caller(w, l, w->sp + 8))
		return walk_sized(w, 16, true);
	/* Wrappers and runtime stubs, which save and restore all registers on top of what enter() made. */
	if (walk_has_rbp_frame(w, l, size - 16))
		return walk_rbp_frame(w);
	return walk_compiled_whole(w, l, size, state != WALK_FRAME_NO_RBP);
}

WALK_FN int walk_compiled(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 size;
	int err;

	walk_push(w, (__u64)BRAID_FRAME_CODE_CACHE << 60 | walk_exact_bit(w) | (w->pc & BRAID_FRAME_ADDR_MASK));
	w->java++;
	err = walk_blob(w, l, walk_lookup_pc(w));
	if (err)
		return walk_end(w, (__u32)err);
	size = (__u64)w->blob_words * 8;
	if (size < 16 || size > WALK_MAX_FRAME_BYTES)
		return walk_stub(w, l);
	if (w->leaf)
		return walk_compiled_leaf(w, l, size);
	return walk_compiled_whole(w, l, size, true);
}

/* ---- interpreter ---- */

#define WALK_FP_WORD 8 /* of w->words, when they hold the words around an interpreter frame's rbp */

/* The word of an interpreter frame at `offset` words from its rbp. */
WALK_INLINE __u64 walk_interp_word(const struct braid_walk *w, __s16 offset)
{
	return w->words[(__u32)(WALK_FP_WORD + offset) & (WALK_STUB_SLOTS - 1)];
}

/* The byte code index at `bcp`, or -1 when it does not lie in the code of the method. */
WALK_PART __s32 walk_bci(struct braid_walk *w, const struct braid_layout *l, __u64 method, __u64 bcp)
{
	__u64 const_method, first;
	__u16 length;

	if (!w || !l)
		return -1;
	if (!method || (method & 7) || walk_read(w, &const_method, 8, method + l->method_const))
		return -1;
	first = const_method + l->const_size;
	if (bcp < first || walk_read(w, &length, 2, const_method + l->const_code_size) || bcp - first >= length)
		return -1;
	return (__s32)(bcp - first);
}

WALK_INLINE __u64 walk_first_bcp(struct braid_walk *w, const struct braid_layout *l, __u64 method)
{
	__u64 const_method;

	return walk_read(w, &const_method, 8, method + l->method_const) ? 0 : const_method + l->const_size;
}

/* Does a Method lie there? Its parts lead on to its class. */
WALK_PART bool walk_is_method(struct braid_walk *w, const struct braid_layout *l, __u64 method)
{
	__u64 p;

	if (!w || !l)
		return false;
	if (!method || (method & 7) || walk_read(w, &p, 8, method + l->method_const) || !p || (p & 7))
		return false;
	if (walk_read(w, &p, 8, p + l->const_constants) || !p || (p & 7))
		return false;
	return !walk_read(w, &p, 8, p + l->pool_holder) && p && !(p & 7) && !walk_read(w, &p, 8, p + l->klass_name) &&
	       p && !(p & 7);
}

/* Loads the words around rbp; true when they are a whole interpreter frame at and above sp. */
WALK_PART bool walk_interp_frame(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 method, bcp;

	if (!w || !l)
		return false;
	if (w->fp < w->sp || w->fp - w->sp > WALK_MAX_FRAME_BYTES || (w->fp & 7) ||
	    walk_read(w, w->words, 8 * (WALK_FP_WORD + 2), w->fp - 8 * WALK_FP_WORD))
		return false;
	/* Its fixed part must lie above sp; only for the newest frame that is in doubt. */
	if ((__s64)(w->fp - w->sp) < -8 * (__s64)l->interp_bcp || walk_interp_word(w, l->interp_sender_sp) <= w->fp)
		return false;
	method = walk_interp_word(w, l->interp_method);
	bcp = walk_interp_word(w, l->interp_bcp);
	return bcp ? walk_bci(w, l, method, bcp) >= 0 : walk_is_method(w, l, method); /* native methods have none */
}

WALK_INLINE int walk_interp_push(struct braid_walk *w, __u64 method, __s32 bci)
{
	w->interpreted++;
	walk_push(w, braid_frame_interpreted(method, bci < 0 ? BRAID_FRAME_BCI_NONE : (__u32)bci));
	return 0;
}

WALK_INLINE int walk_interp_push_stub(struct braid_walk *w)
{
	walk_push(w, (__u64)BRAID_FRAME_CODE_CACHE << 60 | walk_exact_bit(w) | (w->pc & BRAID_FRAME_ADDR_MASK));
	return 0;
}

/* Can `sp` be where the sender of the newest frame had its stack pointer? */
WALK_INLINE bool walk_is_sender_sp(const struct braid_walk *w, __u64 sp)
{
	return sp >= w->sp && !(sp & 7) && sp - w->sp <= WALK_MAX_FRAME_BYTES;
}

/*
 * An interpreted method's entry code (TemplateInterpreterGenerator::generate_normal_entry and generate_fixed_frame):
 * rbx is the Method, r13 the sender's stack pointer until it becomes the bcp. The return address is at sp, or in rax
 * while locals are pushed, then at sp again, below rbp, or above it. True when the step is done.
 */
WALK_FN bool walk_interp_entry(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 sender = w->r13, pc, fp = w->fp, at = w->sp;
	bool building = w->fp >= w->sp && w->fp - w->sp < 8 * WALK_FP_WORD && !(w->fp & 7);

	if (!walk_is_method(w, l, w->rbx) || walk_read(w, w->words, 16, building ? w->fp : w->sp))
		return false;
	if (building && walk_is_java_caller(w, l, w->words[1])) {
		if (w->fp > w->sp && walk_read(w, &sender, 8, w->fp - 8))
			return false;
		fp = w->words[0];
		pc = w->words[1];
	} else if (!walk_is_sender_sp(w, sender)) {
		return false;
	} else if (w->words[0] == fp && walk_is_java_caller(w, l, w->words[1])) {
		pc = w->words[1];
	} else if (walk_is_java_caller(w, l, w->words[0])) {
		pc = w->words[0];
	} else if (walk_is_java_caller(w, l, w->rax)) {
		pc = w->rax;
	} else {
		return false;
	}
	if (sender < at)
		return false;
	walk_interp_push(w, w->rbx, walk_bci(w, l, w->rbx, walk_first_bcp(w, l, w->rbx)));
	walk_to(w, pc, sender, fp);
	return true;
}

/*
 * An interpreted method's return (InterpreterMacroAssembler::remove_activation and what follows): the frame is gone,
 * rbx is the sender's stack pointer, and the return address is at sp or, popped, in r13. A native method's keeps the
 * sender's stack pointer elsewhere. True when the step is done.
 */
WALK_FN bool walk_interp_exit(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 pc, sender = w->rbx;

	if (!walk_read(w, &pc, 8, w->sp) && walk_is_java_caller(w, l, pc)) {
		if (!walk_is_sender_sp(w, sender)) {
			if (walk_in_interpreter(l, pc)) /* whose frame does not need it */
				return false;
			sender = w->sp + 8;
		}
	} else if (walk_is_java_caller(w, l, w->r13) && walk_is_sender_sp(w, sender)) {
		pc = w->r13;
	} else {
		return false;
	}
	walk_interp_push_stub(w);
	walk_to(w, pc, sender, w->fp);
	return true;
}

WALK_FN int walk_interpreter(struct braid_walk *w, const struct braid_layout *l)
{
	bool whole = walk_interp_frame(w, l);
	__u64 method = walk_interp_word(w, l->interp_method), sender = walk_interp_word(w, l->interp_sender_sp);
	__u64 pc = w->words[WALK_FP_WORD + 1], fp = w->words[WALK_FP_WORD];
	__s32 bci = -1;

	w->java++;
	if (w->leaf) {
		if (whole)
			bci = walk_bci(w, l, method, w->r13);
		/* The bcp register leads into this method's code, or this is the edge of another method's life. */
		if (bci < 0 && (walk_interp_entry(w, l) || walk_interp_exit(w, l)))
			return w->end != WALK_GOING;
	}
	if (!whole) {
		walk_interp_push_stub(w);
		return walk_end(w, BRAID_END_BAD_INTERPRETER);
	}
	if (bci < 0)
		bci = walk_bci(w, l, method, walk_interp_word(w, l->interp_bcp));
	w->bcp = walk_interp_word(w, l->interp_bcp);
	walk_interp_push(w, method, bci);
	return walk_to(w, pc, sender, fp);
}

/* ---- native code ---- */

/* Linux's signal frame: at sp lies a ucontext with every register of the interrupted code (struct rt_sigframe). */
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
 * Without CFI there is not much: a leaf may be assembly that left the stack alone (or a jump to the interpreter
 * in the class data archive of JDK 11), otherwise the frame pointer is
 * believed, when it leads to code.
 */
WALK_INLINE int walk_frame_pointer(struct braid_walk *w, const struct braid_layout *l, __u32 cause)
{
	struct braid_mapping m;
	__u64 f[2];

	if (w->leaf && !walk_read(w, f, 8, w->sp) &&
	    ((l && walk_in_interpreter(l, f[0])) || walk_follows_call(w, f[0])))
		return walk_to(w, f[0], w->sp + 8, w->fp);
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
	bool found;
	int err;

	found = walk_mapping(w, walk_lookup_pc(w), &m);
	/* A return address that leads nowhere is no frame. */
	if (!found && !w->leaf)
		return walk_end(w, BRAID_END_BAD_RA);
	walk_push(w, walk_exact_bit(w) | (w->pc & BRAID_FRAME_ADDR_MASK));
	w->native++;
	if (!found)
		return walk_end(w, BRAID_END_NO_MAPPING);
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
 * Pushes the frame at pc and moves to its caller: 0, or 1 when the walk is over and w->end says why. `l` is NULL when
 * the process is no JVM.
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
