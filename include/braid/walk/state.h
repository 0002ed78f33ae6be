// SPDX-License-Identifier: Apache-2.0
/* The state of one walk, and the little that every part of it needs. */
#ifndef BRAID_WALK_STATE_H
#define BRAID_WALK_STATE_H

#include <braid/event.h>
#include <braid/frame.h>
#include <braid/unwind.h>

/*
 * WALK_PART is a function that the BPF verifier looks at once and on its own, whatever it is called with; it takes
 * nothing for granted but that its pointers, when they are not NULL, lead to whole structures. WALK_INLINE is verified
 * wherever it is called: it is for what is small or called once.
 */
#ifdef __bpf__
#define WALK_PART __attribute__((noinline))
#define WALK_INLINE static __attribute__((always_inline)) inline
#else
#define WALK_PART static
#define WALK_INLINE static inline
#endif

#define WALK_BLOB_BYTES 128   /* as much of a CodeBlob's header as the walk looks at */
#define WALK_HEADER_BYTES 144 /* what is read of it: not a cache line more */
#define WALK_ID_BYTES 64      /* at most, from where an nmethod's deopt handler is told up to its compile id */
#define WALK_SEGMAP_HOPS 24
#define WALK_MAX_FRAME_BYTES (1U << 20)
#define WALK_MAX_STUB_BYTES (8U << 10) /* of a stub routine's frame */
#define WALK_CODE_BEFORE 32	       /* bytes of code that are looked at around an exact pc */
#define WALK_CODE_BYTES 56
#define WALK_STUB_SLOTS 16    /* words above sp that are searched for a stub's return address */
#define WALK_FIND_WORDS 64    /* the most that are searched for any return address */
#define WALK_SEARCH_WORDS 416 /* that an adapter may have put on the stack: all registers there are, and some */
#define WALK_LIFTS 8	      /* words that compiled code may push on top of its frame */
#define WALK_LIFTS_8 64	      /* the same, JDK 8: all registers around arithmetic */
#define WALK_GOING 0xffffffffU
#define WALK_ID_UNREAD 0xffffffffU
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
	__u32 blob_id; /* the nmethod's compile id, or WALK_ID_UNREAD */
	__u32 reserved_id;
	/* Its deopt handlers: where the callees of its deoptimised frames return to, or 0. */
	__u64 blob_deopt;
	__u64 blob_deopt_handle; /* of calls of method handles */
	/* Where the last step read the caller's fp, 0: it is the callee's, or WALK_FP_ELSEWHERE. The return address of
	   a step that sets either of the first two lies below the caller's sp. */
	__u64 fp_at;
	__u64 bcp;	   /* of the last interpreted frame, as its stack slot has it */
	__u32 leaf;	   /* 1: registers are those of the instruction at pc; 0: pc is a return address */
	__u32 end;	   /* WALK_GOING, or enum braid_end */
	__u32 java;	   /* frames pushed: compiled, interpreted and stub */
	__u32 native;	   /* frames pushed */
	__u32 interpreted; /* of the java ones */
	__u32 slot;	   /* in the kernel: whose memory the walk uses */
	/* Of virtual threads, see continuation.h; all 0 at the start. */
	__u64 jvm;	    /* which JVM it is, for walk_java_thread() */
	__u64 entry;	    /* the ContinuationEntry that was passed first: whose frames those above it are */
	__u64 frozen_end;   /* sp is in a chunk of frozen frames, which end there; fp is sp without an extension */
	__u64 frozen_entry; /* where the stack goes on behind them */
	__u64 chunk;
	__u64 yielded; /* where doYield, which is freezing these frames, was called from */
	/* Scratch. */
	__u64 words[WALK_STUB_SLOTS];
	__u8 blob[WALK_HEADER_BYTES];
	__u8 code[WALK_CODE_BYTES];
};

static long walk_read(struct braid_walk *w, void *to, __u32 size, __u64 address);
static bool walk_mapping(struct braid_walk *w, __u64 pc, struct braid_mapping *m);
static __u32 walk_rule(struct braid_walk *w, const struct braid_mapping *m, __u64 vaddr);
static void walk_push(struct braid_walk *w, __u64 frame);
static __u64 walk_java_thread(struct braid_walk *w);

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

WALK_INLINE void walk_push_code(struct braid_walk *w)
{
	__u64 pc = walk_lookup_pc(w), id = 0;

	if (w->blob_id != WALK_ID_UNREAD && pc >= w->blob_low && pc < w->blob_high)
		id = braid_code_id(w->blob_id);
	walk_push(w, (__u64)BRAID_FRAME_CODE_CACHE << 60 | walk_exact_bit(w) | id << BRAID_FRAME_CODE_ID_SHIFT |
			     (w->pc & BRAID_FRAME_ADDR_MASK));
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

#endif
