// SPDX-License-Identifier: Apache-2.0
/*
 * Determines from the code around a pc how much of its frame a compiled method has there. compiled.h and
 * interpreter.h use it. Prologues and epilogues as in MacroAssembler::verified_entry and the emitters of C1 and C2.
 */
#ifndef BRAID_WALK_EDGE_H
#define BRAID_WALK_EDGE_H

#include <braid/walk/blob.h>

/* How much of a frame exists at an exact pc. */
enum walk_frame_state {
	WALK_FRAME_WHOLE,    /* return address at the frame's end, rbp below it */
	WALK_FRAME_NONE,     /* return address at sp */
	WALK_FRAME_RBP_ONLY, /* rbp at sp, return address above it */
	WALK_FRAME_NO_RBP,   /* allocated, but rbp is still in its register */
	WALK_FRAME_LOST,     /* return address not on the stack */
	WALK_FRAME_POPPED,   /* return address just popped: below sp */
	WALK_FRAME_SIZED,    /* whole, but rbp does not point to it yet */
	WALK_FRAME_CALLEE,   /* return address at sp, into the same code: on the way to a callee */
};

/*
 * 1 when none of the lower 31 bits is set. Searches compare with it instead of branches, because the verifier looks at
 * each combination of branches.
 */
WALK_INLINE __u32 walk_is_zero(__u32 bits)
{
	return (bits - 1) >> 31;
}

/* push rbp; mov rbp, rsp, in both encodings */
WALK_INLINE bool walk_is_enter(const __u8 *p)
{
	return p[0] == 0x55 && p[1] == 0x48 && ((p[2] == 0x8b && p[3] == 0xec) || (p[2] == 0x89 && p[3] == 0xe5));
}

/* push rbp; sub rsp, n */
WALK_INLINE bool walk_is_push_sub(const __u8 *p)
{
	return p[0] == 0x55 && p[1] == 0x48 && (p[2] == 0x83 || p[2] == 0x81) && p[3] == 0xec;
}

/* True if the last `before` bytes of code allocate a frame, by sub rsp, n or by push rbp; mov rbp, rsp. */
WALK_PART bool walk_is_allocated(struct braid_walk *w, __u32 before)
{
	__u32 allocated = 0, found, is_81;

	for (__u32 i = 4; w && i < WALK_CODE_BEFORE; i++) {
		const __u8 *p = w->code + WALK_CODE_BEFORE - i;

		is_81 = i >= 7 ? p[1] ^ 0x81 : 1; /* with its four bytes of n */
		found = walk_is_zero((p[0] ^ 0x48) | (p[2] ^ 0xec)) & (walk_is_zero(p[1] ^ 0x83) | walk_is_zero(is_81));
		found |= walk_is_zero((p[0] ^ 0x55) | (p[1] ^ 0x48)) &
			 (walk_is_zero((p[2] ^ 0x8b) | (p[3] ^ 0xec)) | walk_is_zero((p[2] ^ 0x89) | (p[3] ^ 0xe5)));
		allocated |= found & (i - 1 - before) >> 31; /* i <= before */
	}
	return allocated;
}

/*
 * In code before the frame is complete, of which `before` bytes are before pc. A method may still pass its entry
 * barrier after its stack is allocated.
 */
WALK_PART enum walk_frame_state walk_prologue(struct braid_walk *w, __u32 before)
{
	const __u8 *at;

	if (!w)
		return WALK_FRAME_WHOLE;
	at = w->code + WALK_CODE_BEFORE;
	/* A poll's handler makes room for the return address first and gets it from the thread later. */
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
	if (!walk_is_allocated(w, before))
		return WALK_FRAME_NONE;
	if (at[0] == 0x48 && at[1] == 0x89 && (at[2] == 0x6c || at[2] == 0xac) && at[3] == 0x24) /* mov [rsp+n], rbp */
		return WALK_FRAME_NO_RBP;
	return WALK_FRAME_WHOLE;
}

/* True at the safepoint poll of a return, or at the return: the frame is gone. */
WALK_PART bool walk_is_return(struct braid_walk *w)
{
	const __u8 *at;

	if (!w)
		return false;
	at = w->code + WALK_CODE_BEFORE;
	if (at[0] == 0xc3) /* ret */
		return true;
	if (at[0] == 0x0f && (at[1] == 0x87 || at[1] == 0x85) && at[6] == 0xc3) /* ja or jne slow; ret */
		return true;
	if (at[0] == 0x49 && at[1] == 0x3b && at[2] == 0xa7 && at[7] == 0x0f && at[8] == 0x87 &&
	    at[13] == 0xc3) /* cmp rsp, [r15+n]; ja slow; ret (JDK 16 and later) */
		return true;
	if (at[-7] == 0x49 && at[-6] == 0x3b && at[-5] == 0xa7 &&
	    (at[0] == 0x72 || (at[0] == 0x0f && at[1] == 0x82))) /* jb, after cmp rsp, [r15+n]: reserved stack */
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
WALK_PART bool walk_is_slow_return(struct braid_walk *w)
{
	const __u8 *at;

	if (!w)
		return false;
	at = w->code + WALK_CODE_BEFORE;
	if (at[0] == 0x4c && at[1] == 0x8d && at[2] == 0x15 && at[7] == 0x4d && at[8] == 0x89 && at[9] == 0x97 &&
	    at[14] == 0xe9)
		return true;
	if (at[0] == 0x49 && at[1] == 0xba && at[10] == 0x4d && at[11] == 0x89 && at[12] == 0x97 && at[17] == 0xe9)
		return true;
	if (at[0] == 0x4d && at[1] == 0x89 && at[2] == 0x97 && at[7] == 0xe9)
		return true;
	return at[0] == 0xe9 && at[-7] == 0x4d && at[-6] == 0x89 && at[-5] == 0x97;
}

/*
 * True if the return address was just popped: pop rcx; jmp rcx or pop rdx; jmp rbx or r10 go to an exception's handler;
 * pop rax; mov r13, rsp goes into the interpreter (JDK 11). The jump or the move is next.
 */
WALK_INLINE bool walk_is_address_popped(const __u8 *at)
{
	if (at[0] == 0xff)
		return (at[-1] == 0x59 && at[1] == 0xe1) || (at[-1] == 0x5a && at[1] == 0xe3);
	if (at[-1] == 0x5a && at[0] == 0x41 && at[1] == 0xff && at[2] == 0xe2)
		return true;
	return at[-1] == 0x58 && at[0] == 0x4c && at[1] == 0x8b && at[2] == 0xec;
}

/*
 * The end of C2's exception blob (OptoRuntime::generate_exception_blob): pop rdx; mov r8, rax; then it takes and clears
 * the thread's exception; jmp r8.
 */
WALK_PART bool walk_is_exception_jump(struct braid_walk *w)
{
	__u32 behind = 0;
	const __u8 *at;

	if (!w)
		return false;
	at = w->code + WALK_CODE_BEFORE;
	for (int i = WALK_CODE_BEFORE; i >= 1; i--) {
		const __u8 *p = at - i;

		behind |= walk_is_zero((p[0] ^ 0x5a) | (p[1] ^ 0x4c) | (p[2] ^ 0x8b) | (p[3] ^ 0xc0));
	}
	return behind || (at[0] == 0x41 && at[1] == 0xff && at[2] == 0xe0);
}

/* True right after add rsp, n or popf, and pop rbp; a jump to another function may follow. */
WALK_INLINE bool walk_is_popped(const __u8 *at)
{
	return at[-1] == 0x5d && (at[-2] == 0x9d || (at[-5] == 0x48 && at[-4] == 0x83 && at[-3] == 0xc4) ||
				  (at[-8] == 0x48 && at[-7] == 0x81 && at[-6] == 0xc4));
}

/* True if a jmp at `at`, `ahead` bytes after pc, leaves the blob. */
WALK_INLINE bool walk_jumps_away(const struct braid_walk *w, const __u8 *at, __u32 ahead)
{
	__s32 relative = (__s32)((__u32)at[1] | (__u32)at[2] << 8 | (__u32)at[3] << 16 | (__u32)at[4] << 24);
	__u64 target = w->pc + ahead + 5 + (__u64)(__s64)relative;

	return at[0] == 0xe9 && (target < w->blob_low || target >= w->blob_high);
}

/*
 * A native wrapper resets its handle block and leaves; then it checks for a safepoint (JDK 25) and an exception. Its
 * returns are far from its leave, but no code between them has a frame.
 */
WALK_PART bool walk_is_left(struct braid_walk *w)
{
	const __u8 *at;
	__u32 left = 0;

	if (!w)
		return false;
	at = w->code + WALK_CODE_BEFORE;
	if (at[0] == 0x49 && at[1] == 0x83 && at[2] == 0x7f && at[3] == 0x08 && at[5] == 0x0f && at[6] == 0x85 &&
	    at[11] == 0xc3) /* cmp [r15+8], 0; jne slow; ret */
		return true;
	if (at[0] == 0x49 && at[1] == 0x81 && at[2] == 0x7f && at[3] == 0x08 && at[8] == 0x0f && at[9] == 0x85 &&
	    at[14] == 0xc3)
		return true;
	if (at[-1] == 0xc3 && walk_jumps_away(w, at, 0)) /* ret; jmp forward_exception */
		return true;
	for (int i = WALK_CODE_BEFORE; i >= 5; i--) {
		const __u8 *p = at - i;

		left |= walk_is_zero(p[0] | p[1] | p[2] | p[3] | (p[4] ^ 0xc9));
		left &= ~walk_is_zero(p[4] ^ 0xc3);
	}
	return left & 1;
}

/* A static call's stub to the interpreter, after the method's code: mov rbx, Method; jmp adapter. */
WALK_INLINE bool walk_is_call_stub(const struct braid_walk *w, const __u8 *at)
{
	if (at[0] == 0x48 && at[1] == 0xbb)
		return walk_jumps_away(w, at + 10, 10);
	return at[-10] == 0x48 && at[-9] == 0xbb && walk_jumps_away(w, at, 0);
}

WALK_INLINE enum walk_frame_state walk_epilogue(struct braid_walk *w, const __u8 *at)
{
	if (at[0] == 0x5d) /* pop rbp */
		return WALK_FRAME_RBP_ONLY;
	if (at[-1] == 0xc9 && at[0] == 0x59 && at[1] == 0xff) /* leave; pop rcx; jmp rcx: to an exception's handler */
		return WALK_FRAME_NONE;
	if (walk_is_call_stub(w, at))
		return WALK_FRAME_CALLEE;
	if (walk_is_return(w) || walk_is_slow_return(w) || walk_is_popped(at) || walk_is_left(w))
		return WALK_FRAME_NONE;
	/* C1 puts a loop's OSR entry into the middle of the method. */
	if (walk_is_push_sub(at))
		return WALK_FRAME_NONE;
	if (walk_is_push_sub(at - 1))
		return WALK_FRAME_RBP_ONLY;
	if (at[0] == 0x89 && at[1] == 0x84 && at[2] == 0x24 && walk_is_push_sub(at + 7)) /* mov [rsp-n], eax */
		return WALK_FRAME_NONE;
	return WALK_FRAME_WHOLE;
}

WALK_INLINE long walk_code(struct braid_walk *w)
{
	return walk_read(w, w->code, sizeof(w->code), w->pc - WALK_CODE_BEFORE);
}

WALK_PART int walk_frame_state(struct braid_walk *w)
{
	const __u8 *at;
	__s64 complete;
	__u8 begin[4];
	__u64 into;
	int state;

	if (!w)
		return WALK_FRAME_WHOLE;
	at = w->code + WALK_CODE_BEFORE;
	if (walk_is_address_popped(at) || (w->blob_complete < 0 && walk_is_exception_jump(w)))
		return WALK_FRAME_POPPED;
	if (at[-3] == 0x48 && at[-2] == 0x8b && at[-1] == 0xec && at[0] == 0x48 &&
	    at[2] == 0xc5) /* add rbp, n, after mov rbp, rsp (PreserveFramePointer) */
		return WALK_FRAME_SIZED;
	into = w->pc - w->blob_code;
	/* Handlers have no frame-complete offset. */
	complete = w->blob_complete < 0 ? WALK_CODE_BEFORE : w->blob_complete;
	if ((__s64)into >= complete)
		return walk_epilogue(w, at);
	state = walk_prologue(w, into < WALK_CODE_BEFORE ? (__u32)into : WALK_CODE_BEFORE);
	/* Stubs that save all registers set up their frame first and are complete much later. */
	if (state == WALK_FRAME_NONE && into >= WALK_CODE_BEFORE && !walk_read(w, begin, sizeof(begin), w->blob_code) &&
	    walk_is_enter(begin))
		return WALK_FRAME_WHOLE;
	return state;
}

#endif
