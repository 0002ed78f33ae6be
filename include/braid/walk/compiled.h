// SPDX-License-Identifier: Apache-2.0
/* Steps over compiled methods, native wrappers and runtime stubs: CodeBlobs with a frame size. walk.h and
 * continuation.h call it. */
#ifndef BRAID_WALK_COMPILED_H
#define BRAID_WALK_COMPILED_H

#include <braid/walk/stub.h>

#define WALK_PUSHED_BYTES 128U
#define WALK_PUSHED_RBP 80U /* followed by the stack pointer */

/* True if a return address at `at` has itself a caller. An interpreted caller has its rbp above. */
WALK_PART bool walk_confirmed(struct braid_walk *w, const struct braid_layout *l, __u64 at)
{
	__u64 pc, size, f[2];

	if (!w || !l || walk_read(w, f, sizeof(f), at - 8))
		return false;
	pc = f[1];
	if (walk_in_interpreter(l, pc))
		return (f[0] > at && f[0] - at <= WALK_MAX_FRAME_BYTES) ||
		       (w->fp > at && w->fp - at <= WALK_MAX_FRAME_BYTES);
	if (walk_heap(l, pc) >= BRAID_CODE_HEAPS || walk_blob(w, l, pc - 1))
		return false;
	size = (__u64)w->blob_words * 8;
	return size < 16 || walk_has_caller(w, l, at + size) > 0;
}

/*
 * The number of bytes that JDK 8 has pushed on top of a C1 frame that calls C code for arithmetic: all registers
 * (MacroAssembler::pusha), including rbp and the stack pointer, then perhaps 16 vector registers, a number and padding.
 * 0 when it has not.
 */
WALK_PART int walk_has_pushed_all(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 at, name, f[2];
	__u32 more;

	if (!w || !l)
		return 0;
	for (__u32 i = 0; i < 5; i++) {
		more = i < 2 ? 8 * i : 256 + 8 * (i - 2);
		at = w->sp + more;
		if (!walk_read(w, f, sizeof(f), at + WALK_PUSHED_RBP) && (w->leaf || f[0] == w->fp) &&
		    f[1] == at + WALK_PUSHED_BYTES) {
			/* In a native wrapper these are left from another call. */
			name = *(__u64 *)(w->blob + (l->blob_name & 0x78));
			if (walk_read(w, &name, 8, name) || name == 0x6e2065766974616eULL /* native n */)
				return 0;
			return (int)(more + WALK_PUSHED_BYTES);
		}
	}
	return 0;
}

/*
 * The number of bytes pushed on top of a frame of `size` bytes, as the compilers do around some intrinsics. -1 when the
 * frame has no caller in any case.
 */
WALK_PART int walk_lift(struct braid_walk *w, const struct braid_layout *l, __u64 size)
{
	bool handler, jdk8;
	int plain, lift;

	if (!w || !l)
		return -1;
	plain = walk_has_caller(w, l, w->sp + size - 8);
	handler = w->blob_complete < 0;
	jdk8 = (l->flags & (BRAID_LAYOUT_CODE_OFFSET | BRAID_LAYOUT_SHORT_COMPLETE)) == BRAID_LAYOUT_CODE_OFFSET;
	if (plain < 0)
		return -1;
	lift = jdk8 && w->java == 1 ? walk_has_pushed_all(w, l) : 0;
	if (lift && walk_has_caller(w, l, w->sp + size + (__u64)lift - 8) > 0)
		return lift;
	/* At a call the stack pointer is at the frame's end, so only the newest frame needs confirmation. */
	if (plain && (!w->leaf || walk_confirmed(w, l, w->sp + size - 8)))
		return 0;
	if (handler)
		return plain ? 0 : -1;
	lift = walk_find_caller(w, l, w->sp + size, jdk8 ? WALK_LIFTS_8 : WALK_LIFTS);
	if (plain && (lift < 0 || !walk_confirmed(w, l, w->sp + size + (__u64)lift)))
		return 0;
	return lift < 0 ? -1 : lift + 8;
}

WALK_PART int walk_compiled_whole(struct braid_walk *w, const struct braid_layout *l, __u64 size, bool rbp_saved)
{
	int lift;

	if (!w || !l)
		return 1;
	/* The blobs that replace frames align the stack pointer below rbp before a call. */
	if (w->fp == w->sp + size - 8 && walk_has_caller(w, l, w->fp + 8) > 0)
		return walk_rbp_frame(w);
	lift = walk_lift(w, l, size);
	if (lift < 0)
		return walk_end(w, BRAID_END_BAD_CODE);
	return walk_sized(w, size + (__u64)lift, rbp_saved);
}

/* Results of a leaf whose step is not done: the frame is whole, with rbp in it or not. */
enum { WALK_LEAF_WHOLE = 2, WALK_LEAF_NO_RBP };

/* Returns the result of a step, or one of these. */
WALK_PART int walk_compiled_leaf(struct braid_walk *w, const struct braid_layout *l, __u64 size)
{
	int state, found = 0;
	__u64 gone;

	if (!w || !l)
		return 1;
	if (walk_code(w)) {
		walk_push_code(w);
		return walk_end(w, BRAID_END_READ_FAULT);
	}
	state = walk_frame_state(w);
	if (state == WALK_FRAME_CALLEE)
		return walk_sized(w, 8, false);
	walk_push_code(w);
	if (state == WALK_FRAME_POPPED)
		return walk_sized(w, 0, false);
	if (state == WALK_FRAME_SIZED)
		return WALK_LEAF_WHOLE;
	if (state == WALK_FRAME_LOST)
		return walk_end(w, BRAID_END_BAD_CODE);
	if (state == WALK_FRAME_NONE || state == WALK_FRAME_RBP_ONLY) {
		gone = state == WALK_FRAME_NONE ? 8 : 16;
		found = walk_has_caller(w, l, w->sp + gone - 8);
		if (found > 0)
			return walk_sized(w, gone, gone == 16);
	}
	/* Wrappers and runtime stubs that save and restore all registers on top of enter()'s frame. */
	if (found >= 0)
		found = walk_has_rbp_frame(w, l, size - 16);
	if (found < 0)
		return walk_end(w, BRAID_END_READ_FAULT);
	if (found)
		return walk_rbp_frame(w);
	/* A poll's handler that has its frame, but not yet its return address. */
	if (w->blob_complete < 0 && w->fp >= w->sp && w->fp - w->sp <= size - 16)
		return walk_end(w, BRAID_END_BAD_CODE);
	return state == WALK_FRAME_NO_RBP ? WALK_LEAF_NO_RBP : WALK_LEAF_WHOLE;
}

WALK_INLINE int walk_compiled(struct braid_walk *w, const struct braid_layout *l)
{
	int err = walk_blob(w, l, walk_lookup_pc(w));
	__u64 size = (__u64)w->blob_words * 8;
	bool sized = !err && size >= 16 && size <= WALK_MAX_FRAME_BYTES;
	int leaf = WALK_LEAF_WHOLE;

	w->java++;
	w->code_pc = walk_lookup_pc(w);
	if (sized)
		walk_blob_id(w, l);
	if (sized && w->leaf) {
		leaf = walk_compiled_leaf(w, l, size);
		if (leaf < WALK_LEAF_WHOLE)
			return leaf;
	} else {
		if (sized && (w->pc == w->blob_deopt || w->pc == w->blob_deopt_handle))
			walk_original_pc(w, l);
		walk_push_code(w);
	}
	if (err)
		return walk_end(w, (__u32)err);
	return sized ? walk_compiled_whole(w, l, size, leaf == WALK_LEAF_WHOLE) : walk_stub(w, l);
}

#endif
