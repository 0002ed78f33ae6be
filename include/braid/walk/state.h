// SPDX-License-Identifier: Apache-2.0
/* The state of one walk, and the small functions that all parts of the walk use. */
#ifndef BRAID_WALK_STATE_H
#define BRAID_WALK_STATE_H

#include <braid/event.h>
#include <braid/frame.h>
#include <braid/unwind.h>
#include <braid/walk/oop.h>

#define WALK_BLOB_BYTES 128   /* the part of a CodeBlob's header that the walk uses */
#define WALK_HEADER_BYTES 144 /* what it reads: the same cache lines */
#define WALK_ID_BYTES 64      /* maximum from an nmethod's deopt handler offset to its compile id */
#define WALK_SEGMAP_HOPS 24
#define WALK_MAX_FRAME_BYTES (1U << 20)
#define WALK_MAX_STUB_BYTES (8U << 10) /* of a stub routine's frame */
#define WALK_CODE_BEFORE 32	       /* bytes of code that are examined before an exact pc */
#define WALK_CODE_BYTES 56
#define WALK_STUB_SLOTS 16    /* words above sp that are searched for a stub's return address */
#define WALK_FIND_WORDS 64    /* maximum of words searched for any return address */
#define WALK_SEARCH_WORDS 416 /* maximum that an adapter pushes: all registers and some more */
#define WALK_LIFTS 8	      /* words that compiled code may push on top of its frame */
#define WALK_LIFTS_8 64	      /* the same in JDK 8: all registers around arithmetic */
#define WALK_GOING 0xffffffffU
#define WALK_ID_UNREAD 0xffffffffU
#define WALK_FP_ELSEWHERE (~0ULL)

/*
 * The state of one walk. In BPF it is in a map's value: it is too large for the stack, and the verifier treats all
 * numbers there as unknown, so it needs to check a step only once.
 */
struct braid_walk {
	__u64 pc;
	__u64 sp;
	__u64 fp;
	/* Registers that are known for the interrupted frame only. */
	__u64 rax;
	__u64 rbx;
	__u64 r10;
	__u64 r13;
	/* The CodeBlob of the previous frame: recursion needs the same one again. */
	__u64 blob_low;
	__u64 blob_high;
	__u64 blob_code;
	__s32 blob_complete;
	__u32 blob_words;
	__u32 blob_id; /* the nmethod's compile id, or WALK_ID_UNREAD */
	__u32 reserved_id;
	/* Its deopt handlers, the return addresses into its deoptimised frames; or 0. */
	__u64 blob_deopt;
	__u64 blob_deopt_handle; /* for calls of method handles */
	__u64 code_pc;		 /* in the last compiled or stub frame, also if a memo has made the step; 0: none yet */
	/* Where the last step read the caller's fp; 0: it is the callee's; or WALK_FP_ELSEWHERE. In the first two
	 * cases the return address is below the caller's sp. */
	__u64 fp_at;
	__u64 bcp;	   /* of the last interpreted frame, from its stack slot */
	__u32 leaf;	   /* 1: the registers belong to the instruction at pc; 0: pc is a return address */
	__u32 end;	   /* WALK_GOING, or enum braid_end */
	__u32 java;	   /* number of frames pushed: compiled, interpreted and stub */
	__u32 native;	   /* number of frames pushed */
	__u32 interpreted; /* the part of `java` that is interpreted */
	__u32 slot;	   /* in the kernel: selects the memory of this walk */
	/* Virtual threads, see continuation.h; all 0 at the start. */
	__u64 jvm;	    /* the JVM, for walk_java_thread() */
	__u64 entry;	    /* the first ContinuationEntry passed, which owns the frames above it */
	__u64 frozen_end;   /* sp is in a chunk whose frames end here; fp is sp without an extension */
	__u64 frozen_entry; /* where the stack continues after them */
	__u64 chunk;
	__u64 yielded;	  /* the return address of doYield, which is freezing these frames */
	__u64 trampoline; /* the address that the kernel puts in place of return addresses; 0: none */
	/* Scratch. */
	__u64 words[WALK_STUB_SLOTS];
	__u8 blob[WALK_HEADER_BYTES];
	__u8 code[WALK_CODE_BYTES];
};

static bool walk_mapping(struct braid_walk *w, __u64 pc, struct braid_mapping *m);
static __u32 walk_rule(struct braid_walk *w, const struct braid_mapping *m, __u64 vaddr);
static void walk_push(struct braid_walk *w, __u64 frame);
static __u64 walk_java_thread(struct braid_walk *w);

WALK_INLINE int walk_end(struct braid_walk *w, __u32 cause)
{
	w->end = cause;
	return 1;
}

/* The address for look-ups of function, rule and scope: a return address may already belong to the next function. */
WALK_INLINE __u64 walk_lookup_pc(const struct braid_walk *w)
{
	return w->leaf ? w->pc : w->pc - 1;
}

WALK_INLINE __u64 walk_exact_bit(const struct braid_walk *w)
{
	return w->leaf ? BRAID_FRAME_EXACT : 0;
}

WALK_INLINE bool walk_is_trampoline(const struct braid_walk *w, __u64 pc)
{
	return w->trampoline && pc == w->trampoline;
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

/* Moves to the caller, whose stack pointer must be nearer to the root. A leaf may already have popped its whole
 * frame. */
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
