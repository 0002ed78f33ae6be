// SPDX-License-Identifier: Apache-2.0
/*
 * A frame of a raw stack, as the walk produces and the collector resolves it: one 64-bit word. Kernel addresses are
 * canonical (all top bits set) and user space ends at 2^47 on x86-64, so the top four bits are free for the frame's
 * kind.
 */
#ifndef BRAID_FRAME_H
#define BRAID_FRAME_H

#include <braid/types.h>

enum braid_frame_kind {
	BRAID_FRAME_NATIVE = 0x0,      /* low bits: pc */
	BRAID_FRAME_CODE_CACHE = 0x1,  /* low bits: pc inside a JVM's code cache: compiled method or stub */
	BRAID_FRAME_INTERPRETED = 0x2, /* Method address and byte code index, see below */
	BRAID_FRAME_END = 0x3,	       /* root-most pseudo frame of an incomplete stack; low bits: enum braid_end */
	BRAID_FRAME_KERNEL = 0xf,      /* the whole word is the pc */
};

/*
 * The pc of a frame is a return address, after the call, so look-ups of names, lines and scopes subtract one. Only the
 * innermost frame of each mode has an exact pc and, in native and code cache frames, this bit.
 */
#define BRAID_FRAME_EXACT (1ULL << 59)

#define BRAID_FRAME_ADDR_MASK ((1ULL << 48) - 1)

/*
 * Code cache frames: the low bits of the nmethod's compile id, which the walk reads. Addresses are reused and records
 * of code arrive late, so these bits identify the code. 0: not known; braid_code_id() gives no id this value.
 */
#define BRAID_FRAME_CODE_ID_SHIFT 48
#define BRAID_FRAME_CODE_ID_MASK 0x7ffU

/* Interpreted frames: the Method's address in units of 8 bytes, and above it the byte code index. */
#define BRAID_FRAME_METHOD_BITS 44
#define BRAID_FRAME_BCI_NONE 0x7fffU /* not known, or beyond 32 KiB of byte codes */

/* Why a walk ended. 0: it reached the thread's first frame. */
enum braid_end {
	BRAID_END_COMPLETE = 0,
	BRAID_END_DEPTH = 1,		/* depth limit */
	BRAID_END_NO_MAPPING = 2,	/* native pc in no known mapping */
	BRAID_END_NO_TABLE = 3,		/* mapping without unwind table (not built yet, or table space is full) */
	BRAID_END_NO_CFI = 4,		/* no rule for this pc, and no caller by the frame pointer */
	BRAID_END_BAD_CFI = 5,		/* unsupported rule */
	BRAID_END_READ_FAULT = 6,	/* unreadable stack memory */
	BRAID_END_BAD_RA = 7,		/* return address outside all code */
	BRAID_END_NO_PROGRESS = 8,	/* stack pointer did not move towards the root */
	BRAID_END_NO_BLOB = 9,		/* code cache address that no CodeBlob covers */
	BRAID_END_BAD_INTERPRETER = 10, /* interpreter frame fails its checks */
	BRAID_END_BAD_CODE = 11,	/* compiled frame without a plausible caller */
	BRAID_END_NO_REGS = 12,		/* user registers not available */
	BRAID_END_NO_PROCESS = 13,	/* process not known to the collector yet */
	BRAID_END_FROZEN = 14,		/* frozen frames of a virtual thread that could not be found */
	BRAID_END_COUNT,
};

static inline __u32 braid_frame_kind(__u64 frame)
{
	return (__u32)(frame >> 60);
}

static inline __u64 braid_frame_interpreted(__u64 method, __u32 bci)
{
	__u64 b = bci > BRAID_FRAME_BCI_NONE ? BRAID_FRAME_BCI_NONE : bci;

	return (__u64)BRAID_FRAME_INTERPRETED << 60 | b << BRAID_FRAME_METHOD_BITS |
	       ((method >> 3) & ((1ULL << BRAID_FRAME_METHOD_BITS) - 1));
}

static inline __u64 braid_frame_method(__u64 frame)
{
	return (frame & ((1ULL << BRAID_FRAME_METHOD_BITS) - 1)) << 3;
}

static inline __u32 braid_frame_bci(__u64 frame)
{
	return (__u32)(frame >> BRAID_FRAME_METHOD_BITS) & 0x7fffU;
}

/* The bits of a compile id for a frame; 0 only for an unknown id, 0. */
static inline __u32 braid_code_id(__u32 compile_id)
{
	__u32 id = compile_id & BRAID_FRAME_CODE_ID_MASK;

	return id || !compile_id ? id : BRAID_FRAME_CODE_ID_MASK;
}

static inline __u32 braid_frame_code_id(__u64 frame)
{
	return (__u32)(frame >> BRAID_FRAME_CODE_ID_SHIFT) & BRAID_FRAME_CODE_ID_MASK;
}

static inline __u64 braid_frame_addr(__u64 frame)
{
	return braid_frame_kind(frame) == BRAID_FRAME_KERNEL ? frame : frame & BRAID_FRAME_ADDR_MASK;
}

#endif
