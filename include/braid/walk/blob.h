// SPDX-License-Identifier: Apache-2.0
/* Finds the CodeBlob around an address (hotspot/share/memory/heap.cpp), and tests what can be a return address. All
 * parts of the walk through Java code use it. */
#ifndef BRAID_WALK_BLOB_H
#define BRAID_WALK_BLOB_H

#include <braid/walk/state.h>

/* Finds the first segment of the block that segment `seg` belongs to: each byte of the map gives a distance back. */
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
	if (walk_read(w, w->blob, WALK_HEADER_BYTES, blob))
		return BRAID_END_READ_FAULT;
	w->blob_id = WALK_ID_UNREAD;
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

/*
 * Reads what is outside the header. It is in another cache line, so this is only for frames that are pushed: the
 * compile id, and, where CodeBlobs have offsets (JDK 8, 23 and later), the deopt handlers before it.
 */
WALK_PART int walk_blob_id(struct braid_walk *w, const struct braid_layout *l)
{
	__u32 deopt, length, f[WALK_ID_BYTES / 4];

	if (!w || !l || w->blob_id != WALK_ID_UNREAD || !l->nmethod_compile_id)
		return 0;
	w->blob_deopt = w->blob_deopt_handle = 0;
	deopt = l->nmethod_deopt_handler;
	length = l->nmethod_compile_id - deopt;
	if (!(l->flags & BRAID_LAYOUT_CODE_OFFSET) || !deopt || length < 8 || length > WALK_ID_BYTES - 4) {
		if (walk_read(w, &w->blob_id, 4, w->blob_low + l->nmethod_compile_id))
			w->blob_id = WALK_ID_UNREAD;
		if (!(l->flags & BRAID_LAYOUT_CODE_OFFSET) && deopt == WALK_BLOB_BYTES) { /* JDK 11 to 22 */
			w->blob_deopt = *(__u64 *)(w->blob + WALK_BLOB_BYTES);
			w->blob_deopt_handle = *(__u64 *)(w->blob + WALK_BLOB_BYTES + 8);
		}
		return 0;
	}
	if (walk_read(w, f, sizeof(f), w->blob_low + deopt))
		return 0;
	w->blob_id = f[length / 4 & (WALK_ID_BYTES / 4 - 1)];
	w->blob_deopt = w->blob_low + f[0];
	w->blob_deopt_handle = w->blob_low + f[1];
	return 0;
}

/*
 * The return address into a frame that is to be deoptimised is its blob's deopt handler; the original pc is in a slot
 * of the frame (frame::deoptimize). Restores that pc.
 */
WALK_PART int walk_original_pc(struct braid_walk *w, const struct braid_layout *l)
{
	__u32 slot;
	__u64 pc;

	if (!w || !l || !l->nmethod_orig_pc_offset || walk_read(w, &slot, 4, w->blob_low + l->nmethod_orig_pc_offset) ||
	    slot >= WALK_MAX_FRAME_BYTES || walk_read(w, &pc, 8, w->sp + slot))
		return 0;
	if (pc > w->blob_code && pc < w->blob_high)
		w->pc = pc;
	return 0;
}

#define WALK_CALL_BYTES 7

/* True if these bytes end with a call: the opcodes of call rel32 and of call r/m64 in its lengths. */
WALK_INLINE bool walk_is_call(const __u8 b[WALK_CALL_BYTES])
{
	return b[2] == 0xe8 || (b[5] == 0xff && (b[6] & 0x38) == 0x10) || (b[4] == 0xff && (b[5] & 0x38) == 0x10) ||
	       (b[3] == 0xff && (b[4] & 0x38) == 0x10) || (b[1] == 0xff && (b[2] & 0x38) == 0x10) ||
	       (b[0] == 0xff && (b[1] & 0x38) == 0x10);
}

/* True if the instruction before `pc` is a call. */
WALK_INLINE bool walk_follows_call(struct braid_walk *w, __u64 pc)
{
	__u8 b[WALK_CALL_BYTES];

	return !walk_read(w, b, sizeof(b), pc - sizeof(b)) && walk_is_call(b);
}

/* True if `pc` can be a return address to Java. The interpreter pushes return addresses itself, after no call. */
WALK_PART bool walk_is_java_caller(struct braid_walk *w, const struct braid_layout *l, __u64 pc)
{
	if (!w || !l)
		return false;
	if (walk_in_interpreter(l, pc) || (pc && pc == l->vthreads.barrier))
		return true;
	return walk_heap(l, pc) < BRAID_CODE_HEAPS && walk_follows_call(w, pc);
}

/* True if `pc` follows a call in a mapped file's code. */
WALK_PART bool walk_is_native_caller(struct braid_walk *w, __u64 pc)
{
	return w && walk_mapping(w, pc - 1, NULL) && walk_follows_call(w, pc);
}

/* The VM calls some stubs like C functions, so their callers may be anywhere. */
WALK_PART bool walk_is_caller(struct braid_walk *w, const struct braid_layout *l, __u64 pc)
{
	if (!w || !l)
		return false;
	return walk_in_interpreter(l, pc) || (pc && pc == l->vthreads.barrier) || walk_follows_call(w, pc);
}

#endif
