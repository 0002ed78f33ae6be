// SPDX-License-Identifier: Apache-2.0
/*
 * Steps through virtual threads; walk.h calls it. The frames that have run since the thread was mounted are on its
 * carrier's stack, above the frame of Continuation.enterSpecial, which contains a ContinuationEntry. The others are
 * frozen in the heap, in StackChunk objects; then the last frame on the stack returns to the return barrier, which
 * thaws the next one. The walk continues in the heap and returns to enterSpecial. Facts: continuationEntry.hpp,
 * continuationFreezeThaw.cpp, stackChunkFrameStream_x86.inline.hpp; 21 and later.
 *
 * A collector may move a chunk while the walk reads it, or may have moved it after the reference was read. Data that
 * do not agree end the walk with BRAID_END_FROZEN.
 */
#ifndef BRAID_WALK_CONTINUATION_H
#define BRAID_WALK_CONTINUATION_H

#include <braid/walk/compiled.h>
#include <braid/walk/interpreter.h>

#define WALK_CHUNKS 8		   /* limit of empty chunks in a row, and of nested continuation entries */
#define WALK_CHUNK_WORDS (1 << 20) /* limit of a chunk's stack */
#define WALK_INTERP_LOCALS (-7)	   /* frame_x86.hpp: the slot of the locals' address, in words from the frame pointer */

/* The object that a reference at `at` in the heap points to; 0 when it is null or unreadable. */
WALK_PART __u64 walk_oop(struct braid_walk *w, const struct braid_layout *l, __u64 at)
{
	__u64 wide = 0;

	if (!w || !l || walk_read(w, &wide, l->objects.oops == BRAID_OOPS_COMPRESSED ? 4 : 8, at))
		return 0;
	return walk_oop_decode(l, wide);
}

/* The nearest ContinuationEntry above sp; 0 when the JavaThread is not known or has none. */
WALK_PART __u64 walk_entry(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 entry;

	if (!w || !l)
		return 0;
	entry = walk_java_thread(w);
	if (!entry || walk_read(w, &entry, 8, entry + l->vthreads.thread_entry))
		return 0;
	for (int i = 0; i < WALK_CHUNKS && entry && entry < w->sp; i++)
		if (walk_read(w, &entry, 8, entry + l->vthreads.entry_parent))
			return 0;
	return entry >= w->sp && entry - w->sp <= WALK_MAX_FRAME_BYTES && !(entry & 7) ? entry : 0;
}

/* Continues with enterSpecial's frame, at its call of thaw. */
WALK_INLINE int walk_to_entry(struct braid_walk *w, const struct braid_layout *l, __u64 entry)
{
	w->pc = l->vthreads.enter_return;
	w->sp = entry;
	w->fp = entry + l->vthreads.enter_size - 16;
	w->frozen_end = 0;
	w->leaf = 0;
	return 0;
}

/*
 * Continues with the first frame of the chunk, or of the next one that is not empty: 0. Returns 1 when there is none,
 * -1 when the data there are no chunk.
 */
WALK_PART int walk_chunk(struct braid_walk *w, const struct braid_layout *l, __u64 chunk)
{
	__u64 stack, pc;
	__s32 sp, bottom;

	if (!w || !l)
		return -1;
	for (int i = 0; i < WALK_CHUNKS && chunk; i++, chunk = walk_oop(w, l, chunk + l->vthreads.chunk_parent)) {
		if ((chunk & 7) || walk_read(w, &sp, 4, chunk + l->vthreads.chunk_sp) ||
		    walk_read(w, &bottom, 4, chunk + l->vthreads.chunk_bottom) || sp < 0 || bottom < sp ||
		    bottom > WALK_CHUNK_WORDS)
			return -1;
		if (sp == bottom)
			continue;
		stack = chunk + l->vthreads.chunk_stack;
		w->sp = w->fp = stack + 8 * (__u64)sp;
		w->frozen_end = stack + 8 * (__u64)bottom;
		w->chunk = chunk;
		if (walk_read(w, &pc, 8, w->sp - 8))
			return -1;
		w->pc = pc;
		return 0;
	}
	return chunk ? -1 : 1;
}

/* Steps over the return barrier, after the last frame on the stack: its caller is in the heap. */
WALK_PART int walk_barrier(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 entry, cont;

	if (!w || !l)
		return 1;
	entry = walk_entry(w, l);
	if (!entry || !(l->vthreads.flags & BRAID_VTHREADS_FROZEN) ||
	    walk_read(w, &cont, 8, entry + l->vthreads.entry_cont))
		return walk_end(w, BRAID_END_FROZEN);
	/* A barrier implies a chunk with frames; if there is none, this is a stale copy of a moved object. */
	if (walk_chunk(w, l, walk_oop(w, l, cont + l->vthreads.cont_tail)))
		return walk_end(w, BRAID_END_FROZEN);
	/* At the end of a freeze the heap has the whole stack already, and frames frozen before follow it. */
	if (w->yielded && w->pc == w->yielded)
		return walk_end(w, BRAID_END_FROZEN);
	w->frozen_entry = entry;
	return 0;
}

/* The place of a frozen frame's caller. */
struct walk_frozen_caller {
	__u64 sp;
	__u64 unextended; /* without the extension for an interpreted callee */
	bool last;
};

/* An interpreted frame in the heap has word offsets from its frame pointer in place of addresses. */
WALK_INLINE int walk_frozen_interpreted(struct braid_walk *w, const struct braid_layout *l,
					struct walk_frozen_caller *to)
{
	__u64 method, fp;
	__s64 words, locals;

	if (walk_read(w, &words, 8, w->sp - 16) || words < 0 || words > WALK_CHUNK_WORDS)
		return BRAID_END_FROZEN;
	fp = w->sp - 16 + 8 * (__u64)words;
	if (fp + 16 > w->frozen_end || walk_read(w, w->words, 8 * (WALK_FP_WORD + 2), fp - 8 * WALK_FP_WORD))
		return BRAID_END_FROZEN;
	method = walk_interp_word(w, l->interp_method);
	if (!walk_is_method(w, l, method))
		return BRAID_END_FROZEN;
	walk_interp_push(w, method, walk_bci(w, l, method, walk_interp_word(w, l->interp_bcp)));
	words = (__s64)walk_interp_word(w, l->interp_sender_sp);
	locals = (__s64)walk_interp_word(w, WALK_INTERP_LOCALS);
	if (words < 2 || words > WALK_CHUNK_WORDS || locals < -WALK_CHUNK_WORDS || locals > WALK_CHUNK_WORDS)
		return BRAID_END_FROZEN;
	to->sp = fp + 16;
	to->unextended = fp + 8 * (__u64)words;
	to->last = fp + 8 * (__u64)locals + 8 >= w->frozen_end;
	return 0;
}

WALK_INLINE int walk_frozen_compiled(struct braid_walk *w, const struct braid_layout *l, struct walk_frozen_caller *to)
{
	__u64 pc = walk_lookup_pc(w), size;

	if (walk_heap(l, pc) >= BRAID_CODE_HEAPS || walk_blob(w, l, pc))
		return BRAID_END_FROZEN;
	size = (__u64)w->blob_words * 8;
	if (size < 16 || size > WALK_MAX_FRAME_BYTES)
		return BRAID_END_FROZEN;
	walk_blob_id(w, l);
	walk_push_code(w);
	to->sp = to->unextended = w->fp + size;
	to->last = to->sp == w->frozen_end;
	return 0;
}

/* After the last frame of a chunk: continues in its parent chunk, or on the stack. */
WALK_PART int walk_frozen_over(struct braid_walk *w, const struct braid_layout *l)
{
	if (!w || !l)
		return 1;
	switch (walk_chunk(w, l, walk_oop(w, l, w->chunk + l->vthreads.chunk_parent))) {
	case 0:
		return 0;
	case 1:
		return walk_to_entry(w, l, w->frozen_entry);
	}
	return walk_end(w, BRAID_END_FROZEN);
}

WALK_PART int walk_frozen(struct braid_walk *w, const struct braid_layout *l)
{
	struct walk_frozen_caller to = {0};
	bool interpreted;
	__u64 pc;
	int err;

	if (!w || !l)
		return 1;
	interpreted = walk_in_interpreter(l, walk_lookup_pc(w));
	w->java++;
	err = interpreted ? walk_frozen_interpreted(w, l, &to) : walk_frozen_compiled(w, l, &to);
	if (!err && (to.sp <= w->sp || to.sp > w->frozen_end))
		err = BRAID_END_FROZEN;
	if (err)
		return walk_end(w, (__u32)err);
	if (to.last)
		return walk_frozen_over(w, l);
	if (walk_read(w, &pc, 8, to.sp - 8))
		return walk_end(w, BRAID_END_READ_FAULT);
	w->pc = pc;
	w->sp = to.sp;
	w->fp = to.unextended;
	return 0;
}

/* In thaw's own code the stack up to the entry is still being built, so the step skips to the entry. */
WALK_INLINE int walk_thawing(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 entry = walk_entry(w, l);

	w->java++;
	walk_push_code(w);
	return entry ? walk_to_entry(w, l, entry) : walk_end(w, BRAID_END_FROZEN);
}

/* Steps over enterSpecial, whose entry identifies the virtual thread of the frames above it. */
WALK_INLINE int walk_enter_special(struct braid_walk *w, const struct braid_layout *l)
{
	int going;

	w->java++;
	walk_push_code(w);
	if (!w->entry)
		w->entry = w->sp;
	if (walk_has_caller(w, l, w->sp + l->vthreads.enter_size - 8) <= 0)
		return walk_end(w, BRAID_END_BAD_CODE);
	going = walk_sized(w, l->vthreads.enter_size, true);
	w->fp_at = WALK_FP_ELSEWHERE;
	return going;
}

/* doYield freezes the frames from its caller on, with which the chunk will begin. */
WALK_INLINE int walk_yield(struct braid_walk *w, const struct braid_layout *l)
{
	int going = walk_compiled(w, l);

	w->yielded = w->pc;
	w->fp_at = WALK_FP_ELSEWHERE;
	return going;
}

/* True in code of continuations or in a chunk. It runs for every frame, so it is cheap. */
WALK_INLINE bool walk_in_continuation(const struct braid_walk *w, const struct braid_layout *l)
{
	const struct braid_vthreads *v = &l->vthreads;

	return w->frozen_end || w->pc - v->stubs_start < v->stubs_end - v->stubs_start ||
	       (!w->leaf && (w->pc - v->enter_start < v->enter_end - v->enter_start ||
			     w->pc - v->yield_start < v->yield_end - v->yield_start));
}

WALK_INLINE int walk_continuation(struct braid_walk *w, const struct braid_layout *l)
{
	const struct braid_vthreads *v = &l->vthreads;

	if (w->frozen_end)
		return walk_frozen(w, l);
	if (w->pc - v->enter_start < v->enter_end - v->enter_start)
		return walk_enter_special(w, l);
	if (w->pc - v->yield_start < v->yield_end - v->yield_start)
		return walk_yield(w, l);
	if (w->pc == v->barrier && !w->leaf)
		return walk_barrier(w, l);
	return walk_thawing(w, l);
}

#endif
