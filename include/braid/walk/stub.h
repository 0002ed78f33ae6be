// SPDX-License-Identifier: Apache-2.0
/* Steps over code without a frame size: stub routines, adapters, vtable stubs. compiled.h, native.h and interpreter.h
 * use it. */
#ifndef BRAID_WALK_STUB_H
#define BRAID_WALK_STUB_H

#include <braid/walk/edge.h>

/* Steps over a frame that begins with enter(): rbp points to it until leave. */
WALK_INLINE int walk_rbp_frame(struct braid_walk *w)
{
	__u64 f[2];

	if (walk_read(w, f, sizeof(f), w->fp))
		return walk_end(w, BRAID_END_READ_FAULT);
	w->fp_at = w->fp;
	return walk_to(w, f[1], w->fp + 16, f[0]);
}

/*
 * 1 if a return address can be at `at`; one to a deoptimised caller or an exception handler follows no call. -1 when
 * it is unreadable, which proves nothing.
 */
WALK_PART int walk_has_caller(struct braid_walk *w, const struct braid_layout *l, __u64 at)
{
	__u64 pc;

	if (!w || !l || walk_read(w, &pc, 8, at))
		return -1;
	return walk_heap(l, pc) < BRAID_CODE_HEAPS || walk_follows_call(w, pc);
}

/* The offset from `at` of the first of `words` words that can be a return address to Java; -1 when there is none. */
WALK_PART int walk_find_caller(struct braid_walk *w, const struct braid_layout *l, __u64 at, __u32 words)
{
	__u64 pc;

	if (!w || !l)
		return -1;
	for (__u32 i = 0; i < WALK_FIND_WORDS && i < words; i++) {
		if (walk_read(w, &pc, 8, at + 8 * (__u64)i))
			return -1;
		if (walk_is_java_caller(w, l, pc))
			return (int)(8 * i);
	}
	return -1;
}

/* 1 if rbp is the base of a frame of at most `size` bytes at sp with a caller above it; -1 when unreadable. */
WALK_PART int walk_has_rbp_frame(struct braid_walk *w, const struct braid_layout *l, __u64 size)
{
	__u64 place;

	if (!w || !l)
		return -1;
	if (w->fp < w->sp || (w->fp & 7) || w->fp - w->sp > size)
		return 0;
	if (walk_read(w, &place, 8, w->fp + 8))
		return -1;
	return walk_has_caller(w, l, w->fp + (place == ~0ULL ? 16 : 8));
}

/* Steps to the caller above a frame of `size` bytes; the word below the return address is rbp if that is saved. */
WALK_PART int walk_sized(struct braid_walk *w, __u64 size, bool rbp_saved)
{
	__u64 f[2]; /* with a frame of 8 bytes the first word is below sp */

	if (!w)
		return 1;
	if (walk_read(w, f, sizeof(f), w->sp + size - 16))
		return walk_end(w, BRAID_END_READ_FAULT);
	w->fp_at = rbp_saved ? w->sp + size - 16 : 0;
	return walk_to(w, f[1], w->sp + size, rbp_saved ? f[0] : w->fp);
}

#define WALK_ADAPTER_SLOTS 64	 /* words that an adapter's barrier may push */
#define WALK_ALIGNED_WORDS 128	 /* of a vector routine's frame */
#define WALK_NO_SIZE 0xffffffffU /* StubAssembler::no_frame_size */

enum walk_stub_kind {
	WALK_STUB_ROUTINE, /* mostly with enter() */
	WALK_STUB_ADAPTER, /* between compiled and interpreted calls: moves return address and stack pointer */
	WALK_STUB_OTHER,   /* jumps on, with the return address at sp */
};

/* The kind by the first letters of the blob's name. */
WALK_PART enum walk_stub_kind walk_stub_kind(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 name;
	__u32 prefix;

	if (!w || !l)
		return WALK_STUB_OTHER;
	name = *(__u64 *)(w->blob + (l->blob_name & 0x78));
	if (walk_read(w, &name, 8, name))
		return WALK_STUB_OTHER;
	if (name == 0x74756f5262757453ULL) /* StubRout */
		return WALK_STUB_ROUTINE;
	/* Slow paths of barriers for C1: g1_p(re|ost), shen(andoah), load and stor(e) (ZGC). */
	prefix = (__u32)name;
	if (w->blob_words == WALK_NO_SIZE &&
	    (prefix == 0x705f3167U || prefix == 0x6e656873U || prefix == 0x64616f6cU || prefix == 0x726f7473U))
		return WALK_STUB_ROUTINE;
	return name == 0x204932432f433249ULL /* I2C/C2I_ */ ? WALK_STUB_ADAPTER : WALK_STUB_OTHER;
}

#define WALK_EDGE_POPPED (-8)

/*
 * The offset from sp of the return address at an exact pc, if the code there determines it; else -1. An nmethod's entry
 * barrier begins with push -1, which makes room for another address.
 */
WALK_PART int walk_stub_edge(struct braid_walk *w)
{
	const __u8 *at;

	if (!w || walk_code(w))
		return -1;
	at = w->code + WALK_CODE_BEFORE;
	if (walk_is_address_popped(at))
		return WALK_EDGE_POPPED;
	if (at[0] == 0x68 && at[1] == 0xff && at[4] == 0xff)
		return 0;
	if (at[-5] == 0x68 && at[-4] == 0xff && at[-1] == 0xff && at[0] == 0x55)
		return 8;
	if (at[-6] == 0x68 && at[-5] == 0xff && at[-2] == 0xff && at[-1] == 0x55)
		return 16;
	if (at[-1] == 0xc9 && at[0] == 0x48 && at[1] == 0x83 && at[2] == 0xc4 && at[3] == 0x08) /* leave; add rsp, 8 */
		return 8;
	if (at[0] == 0xc3 || walk_is_enter(at))
		return 0;
	return at[0] == 0x5d || walk_is_enter(at - 1) ? 8 : -1;
}

/* True after push rbp, or at its pop. */
WALK_INLINE bool walk_edge_has_rbp(const struct braid_walk *w)
{
	const __u8 *at = w->code + WALK_CODE_BEFORE;

	return at[-1] == 0x55 || at[0] == 0x5d;
}

/* Steps over an entry barrier that has just pushed rbp, below the room for the other address. */
WALK_INLINE int walk_barrier_pushed(struct braid_walk *w)
{
	__u64 f[3];

	if (walk_read(w, f, sizeof(f), w->sp))
		return walk_end(w, BRAID_END_READ_FAULT);
	return walk_to(w, f[2], w->sp + 24, f[0]);
}

/* Steps over the routine whose frame rbp points to; an entry barrier has another word below the return address. */
WALK_INLINE int walk_routine_frame(struct braid_walk *w)
{
	__u64 f[3];

	if (walk_read(w, f, sizeof(f), w->fp))
		return walk_end(w, BRAID_END_READ_FAULT);
	if (f[1] == ~0ULL)
		return walk_to(w, f[2], w->fp + 24, f[0]);
	w->fp_at = w->fp;
	return walk_to(w, f[1], w->fp + 16, f[0]);
}

/* An adapter to the interpreter makes room for arguments below its caller's stack pointer, which is in r13. */
WALK_PART __u64 walk_sender_sp(struct braid_walk *w, const struct braid_layout *l, __u64 pc, __u64 sp)
{
	__u64 size;
	bool plain, moved;

	if (!w || !l)
		return 0;
	if (w->r13 <= sp || (w->r13 & 7) || w->r13 - sp > WALK_MAX_STUB_BYTES || walk_blob(w, l, pc - 1))
		return sp;
	/* Before the adapter sets it, r13 may be anything: the caller's own return address decides. */
	size = (__u64)w->blob_words * 8;
	plain = walk_has_caller(w, l, sp + size - 8) > 0;
	moved = walk_has_caller(w, l, w->r13 + size - 8) > 0;
	return moved && (!plain || w->rax == pc) ? w->r13 : sp;
}

/*
 * The offset from sp of the registers that an adapter pushed before it called the VM. The code after the call removes
 * what is below them: fxrstor [rsp]; add rsp, n, perhaps after vzeroupper. 0 when the code is another.
 */
WALK_PART __u32 walk_adapter_area(struct braid_walk *w)
{
	const __u8 *p;

	if (!w || walk_read(w, w->code, 16, w->pc))
		return 0;
	p = w->code;
	p += p[0] == 0xc5 ? 3 : 0;
	p += p[0] == 0x48 ? 5 : 4;
	if (p[0] != 0x48 || p[1] != 0x81 || p[2] != 0xc4 || p[5] || p[6])
		return 0;
	return (__u32)p[3] | (__u32)p[4] << 8;
}

/*
 * An adapter that calls the VM (SharedRuntime::fixup_callers_callsite) has pushed all registers
 * (MacroAssembler::pusha), including r13, which points to its return address, and rax, which contains it. If r13 is
 * in one of `words` words from `at`, returns the return address's offset from sp; 0 when it is not, -1 when
 * unreadable.
 */
WALK_PART int walk_adapter_r13(struct braid_walk *w, const struct braid_layout *l, __u64 at, __u32 words)
{
	enum { RAX_ABOVE_R13 = 13 * 8 };
	__u64 r13, rax, pc;

	if (!w || !l)
		return -1;
	for (__u32 i = 0; i < WALK_STUB_SLOTS && i < words; i++, at += 8) {
		if (walk_read(w, &r13, 8, at))
			return -1;
		if (r13 > at && r13 - at <= 64 * 8 && !(r13 & 7) && !walk_read(w, &pc, 8, r13) &&
		    !walk_read(w, &rax, 8, at + RAX_ABOVE_R13) && pc == rax && walk_is_java_caller(w, l, pc))
			return (int)(r13 - w->sp);
	}
	return 0;
}

/* The offset from sp of such an adapter's return address; -1 when the adapter is not calling the VM. */
WALK_PART int walk_adapter_saved(struct braid_walk *w, const struct braid_layout *l)
{
	enum { R13 = 2 * 8 };
	__u32 area;
	int up;

	if (!w || !l)
		return -1;
	area = walk_adapter_area(w);
	up = area ? walk_adapter_r13(w, l, w->sp + area + R13, 1) : 0;
	for (int i = 0; !up && i < WALK_SEARCH_WORDS; i += WALK_STUB_SLOTS)
		up = walk_adapter_r13(w, l, w->sp + 8 * (__u64)i, WALK_STUB_SLOTS);
	return up > 0 ? up : -1;
}

/*
 * Searches what a routine has pushed above `at` for its frame pointer, which points to the saved rbp below the return
 * address. Returns the return address's offset from `at`, or -1.
 */
WALK_PART int walk_pushed_frame(struct braid_walk *w, const struct braid_layout *l, __u64 at)
{
	__u64 fp, pc;

	if (!w || !l)
		return -1;
	for (int i = 0; i < WALK_STUB_SLOTS; i++) {
		__u64 slot = at + 8 * (__u64)i;

		if (walk_read(w, &fp, 8, slot))
			return -1;
		if (fp > slot && fp - slot <= 128 && !(fp & 7) && !walk_read(w, &pc, 8, fp + 8) &&
		    walk_is_java_caller(w, l, pc))
			return (int)(fp + 8 - at);
	}
	return -1;
}

/*
 * Vector routines with rbp for data (SHA-256 and SHA-512 with AVX2) align the stack pointer and save its old value
 * near the end of their frame, below their pushed registers and return address. If that value is at `at`, returns the
 * return address's offset from sp; 0 when it is not, -1 when unreadable.
 */
WALK_PART int walk_aligned_sp(struct braid_walk *w, const struct braid_layout *l, __u64 at)
{
	__u64 was;
	int up;

	if (!w || !l || walk_read(w, &was, 8, at))
		return -1;
	if (was <= at || was - at > 128 || (was & 7))
		return 0;
	up = walk_pushed_frame(w, l, was);
	if (up < 0)
		up = walk_find_caller(w, l, was, WALK_STUB_SLOTS);
	return up > 0 ? (int)(was - w->sp) + up : 0;
}

/* The offset from sp of such a routine's return address, or -1. Words may be left from other calls. */
WALK_PART int walk_aligned_routine(struct braid_walk *w, const struct braid_layout *l)
{
	int up = 0;

	if (!w || !l || (w->sp & 31))
		return -1;
	for (int i = 0; !up && i < WALK_ALIGNED_WORDS; i++)
		up = walk_aligned_sp(w, l, w->sp + 8 * (__u64)i);
	return up > 0 ? up : -1;
}

/*
 * The VM queries the processor with generated code (VM_Version_StubGenerator), which pushes the registers that it
 * overwrites, rbp first, and uses rbp for data. Returns the offset from sp of its return address in native code, or -1.
 */
WALK_PART int walk_find_native(struct braid_walk *w)
{
	__u64 pc;

	if (!w)
		return -1;
	for (int i = 0; i < WALK_STUB_SLOTS; i++) {
		if (walk_read(w, &pc, 8, w->sp + 8 * (__u64)i))
			return -1;
		if (walk_is_native_caller(w, pc))
			return 8 * i;
	}
	return -1;
}

/* Steps to the caller at the nearest word that can be a return address. */
WALK_PART int walk_stub_search(struct braid_walk *w, const struct braid_layout *l, bool adapter)
{
	int up;

	if (!w || !l)
		return 1;
	up = adapter ? walk_adapter_saved(w, l) : -1;
	if (up < 0)
		up = walk_find_caller(w, l, w->sp, adapter ? WALK_ADAPTER_SLOTS : WALK_STUB_SLOTS);
	if (up < 0 && w->leaf && !adapter) {
		up = walk_find_native(w);
		if (up >= 0)
			return walk_sized(w, (__u64)up + 8, up > 0);
	}
	if (up < 0)
		return walk_end(w, BRAID_END_BAD_CODE);
	return walk_sized(w, (__u64)up + 8, up > 0 && w->fp == w->sp + (__u64)up - 8);
}

/* A leaf adapter before or after its call of the VM: r13 points to its return address, far above sp. */
WALK_PART bool walk_adapter_leaf(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 pc;

	if (!w || !l)
		return false;
	if (w->r13 < w->sp || w->r13 - w->sp > 8 * WALK_SEARCH_WORDS || (w->r13 & 7) || walk_read(w, &pc, 8, w->r13))
		return false;
	if (!walk_is_java_caller(w, l, pc) || (pc != w->rax && w->r13 - w->sp < 16 * 8))
		return false;
	walk_to(w, pc, w->r13 + 8, w->fp);
	return true;
}

/*
 * A leaf has its return address at sp or in rax: adapters move it, and method handle linkers pop it to reach the
 * argument below. True when the step is done.
 */
WALK_PART bool walk_stub_leaf(struct braid_walk *w, const struct braid_layout *l, enum walk_stub_kind kind)
{
	bool adapter = kind == WALK_STUB_ADAPTER, held;
	__u64 pc;

	if (!w || !l || walk_read(w, &pc, 8, w->sp))
		return false;
	held = kind != WALK_STUB_ROUTINE && walk_is_java_caller(w, l, w->rax);
	if (adapter && walk_adapter_leaf(w, l))
		return true;
	/* Below a stack pointer that an adapter has moved, an address may be left from another call. */
	if (walk_is_caller(w, l, pc) && !(adapter && held && pc != w->rax)) {
		walk_to(w, pc, adapter ? walk_sender_sp(w, l, pc, w->sp + 8) : w->sp + 8, w->fp);
		return true;
	}
	if (!held)
		return false;
	walk_to(w, w->rax, adapter ? walk_sender_sp(w, l, w->rax, w->sp) : w->sp, w->fp);
	return true;
}

/* The step over any code without a frame size. */
WALK_PART int walk_stub(struct braid_walk *w, const struct braid_layout *l)
{
	enum walk_stub_kind kind;
	int up;

	if (!w || !l)
		return 1;
	if (w->pc == l->call_stub_return)
		return walk_rbp_frame(w);
	up = w->leaf ? walk_stub_edge(w) : -1;
	if (up == 16 && walk_has_caller(w, l, w->sp + 16) > 0)
		return walk_barrier_pushed(w);
	if (up == WALK_EDGE_POPPED && walk_has_caller(w, l, w->sp - 8) > 0)
		return walk_sized(w, 0, false);
	if (up >= 0 && walk_has_caller(w, l, w->sp + (__u64)up) > 0)
		return walk_sized(w, (__u64)up + 8, up > 0 && walk_edge_has_rbp(w));
	kind = walk_stub_kind(w, l);
	if (kind == WALK_STUB_ROUTINE) {
		up = walk_has_rbp_frame(w, l, WALK_MAX_STUB_BYTES);
		if (up > 0)
			return walk_routine_frame(w);
		up = w->leaf && !up ? walk_aligned_routine(w, l) : -1;
		if (up > 0)
			return walk_sized(w, (__u64)up + 8, true);
	}
	if (w->leaf && walk_stub_leaf(w, l, kind))
		return w->end != WALK_GOING;
	return walk_stub_search(w, l, kind == WALK_STUB_ADAPTER);
}

#endif
