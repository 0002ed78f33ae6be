// SPDX-License-Identifier: Apache-2.0
/* Steps over interpreted methods: frames as in hotspot/cpu/x86/frame_x86.hpp, and their entry and exit code. walk.h and
 * continuation.h call it. */
#ifndef BRAID_WALK_INTERPRETER_H
#define BRAID_WALK_INTERPRETER_H

#include <braid/walk/stub.h>

#define WALK_BCI_LIMIT 65536U /* while JDK 8 collects garbage, bcp slots hold indexes (frame::gc_prologue) */
#define WALK_FP_WORD 8	      /* index of rbp in w->words when these are the words around it */

/* The word of an interpreter frame at `offset` words from its rbp. */
WALK_INLINE __u64 walk_interp_word(const struct braid_walk *w, __s16 offset)
{
	return w->words[(__u32)(WALK_FP_WORD + offset) & (WALK_STUB_SLOTS - 1)];
}

/* The byte code index of `bcp`, or -1 when it is outside the method's code. */
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

/* True if a Method is at this address: its parts lead to its class. */
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

/*
 * A Method's page that is written for the first time, as in the JDK's own archive, is not present while the kernel
 * copies it. True if the rest of the frame is plausible without it.
 */
WALK_PART bool walk_interp_hidden(struct braid_walk *w, const struct braid_layout *l, __u64 method)
{
	__u64 p;

	if (!w || !l || w->leaf || w->code_pc || !method || (method & 7))
		return false;
	/* The frames that replace compiled ones have no method yet; they follow a CodeBlob. */
	return walk_read(w, &p, 8, method + l->method_const) &&
	       walk_interp_word(w, l->interp_sender_sp) - w->fp <= WALK_MAX_FRAME_BYTES &&
	       walk_is_java_caller(w, l, w->words[WALK_FP_WORD + 1]);
}

/* Loads the words around rbp. True when they are a whole interpreter frame at or above sp. */
WALK_PART bool walk_interp_frame(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 method, bcp;

	if (!w || !l)
		return false;
	if (w->fp < w->sp || w->fp - w->sp > WALK_MAX_FRAME_BYTES || (w->fp & 7) ||
	    walk_read(w, w->words, 8 * (WALK_FP_WORD + 2), w->fp - 8 * WALK_FP_WORD))
		return false;
	/* Its fixed part must be above sp; only the newest frame can fail this. */
	if ((__s64)(w->fp - w->sp) < -8 * (__s64)l->interp_bcp || walk_interp_word(w, l->interp_sender_sp) <= w->fp)
		return false;
	method = walk_interp_word(w, l->interp_method);
	bcp = walk_interp_word(w, l->interp_bcp);
	if (bcp >= WALK_BCI_LIMIT && walk_bci(w, l, method, bcp) >= 0)
		return true;
	if (!walk_is_method(w, l, method))
		return walk_interp_hidden(w, l, method);
	/* A native method has no bcp until a call into the VM stores the address where byte codes would begin. */
	return bcp < WALK_BCI_LIMIT || bcp == walk_first_bcp(w, l, method);
}

WALK_INLINE void walk_interp_push(struct braid_walk *w, __u64 method, __s32 bci)
{
	w->interpreted++;
	walk_push(w, braid_frame_interpreted(method, bci < 0 ? BRAID_FRAME_BCI_NONE : (__u32)bci));
}

/* True if `sp` is plausible as the sender's stack pointer of the newest frame. */
WALK_INLINE bool walk_is_sender_sp(const struct braid_walk *w, __u64 sp)
{
	return sp >= w->sp && !(sp & 7) && sp - w->sp <= WALK_MAX_FRAME_BYTES;
}

/*
 * The entry code of an interpreted method (TemplateInterpreterGenerator::generate_normal_entry and
 * generate_fixed_frame): rbx is the Method; r13 is the sender's stack pointer until it becomes the bcp. The return
 * address is at sp; in rax while locals are pushed; then at sp again, below rbp; or above rbp. True when the step is
 * done.
 */
WALK_PART bool walk_interp_entry(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 sender, pc, fp, at;
	bool building;

	if (!w || !l)
		return false;
	sender = w->r13;
	fp = w->fp;
	at = w->sp;
	building = fp >= at && fp - at < 8 * WALK_FP_WORD && !(fp & 7);
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
 * The return of an interpreted method (InterpreterMacroAssembler::remove_activation and what follows): the frame is
 * gone, rbx is the sender's stack pointer, and the return address is at sp or, popped, in r13. True when the step is
 * done.
 */
WALK_PART bool walk_interp_exit(struct braid_walk *w, const struct braid_layout *l, bool popped)
{
	__u64 pc;

	if (!w || !l || !walk_is_sender_sp(w, w->rbx))
		return false;
	if (popped && walk_is_java_caller(w, l, w->r13))
		pc = w->r13;
	else if (walk_read(w, &pc, 8, w->sp) || !walk_is_java_caller(w, l, pc))
		return false;
	walk_push_code(w);
	walk_to(w, pc, w->rbx, w->fp);
	return true;
}

/* True if this blob replaces compiled frames by interpreted ones. */
WALK_PART bool walk_replaces_frames(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 name;

	if (!w || !l)
		return false;
	name = *(__u64 *)(w->blob + (l->blob_name & 0x78));
	if (walk_read(w, &name, 8, name))
		return false;
	return name == 0x696d6974706f6544ULL /* Deoptimi */ || name == 0x6e6f6d6d6f636e55ULL /* Uncommon */;
}

/*
 * The return of a native method (TemplateInterpreterGenerator::generate_native_entry): mov r11, [rbp + sender sp];
 * leave; pop rdi; mov rsp, r11; jmp rdi. What was popped is still below sp. True when the step is done.
 */
WALK_PART bool walk_interp_left(struct braid_walk *w, const struct braid_layout *l)
{
	enum { BELOW = 16 };
	__u64 sender, at, pc = 0;
	const __u8 *p;

	if (!w || !l || walk_code(w))
		return false;
	sender = at = w->sp;
	p = w->code + WALK_CODE_BEFORE;
	if (p[-3] == 0x49 && p[-2] == 0x8b && p[-1] == 0xe3 && p[0] == 0xff && p[1] == 0xe7) {
		for (int i = 0; i < BELOW && !walk_is_java_caller(w, l, pc); i++) {
			at -= 8;
			if (walk_read(w, &pc, 8, at))
				return false;
		}
	} else {
		if (p[-1] == 0x5f && p[0] == 0x49 && p[1] == 0x8b && p[2] == 0xe3)
			at -= 8;
		else if (p[-1] != 0xc9 || p[0] != 0x5f || p[1] != 0x49 || p[2] != 0x8b || p[3] != 0xe3)
			return false;
		if (walk_read(w, &pc, 8, at) || walk_read(w, &sender, 8, at - 16))
			return false;
	}
	if (!walk_is_java_caller(w, l, pc) || !walk_is_sender_sp(w, sender))
		return false;
	walk_push_code(w);
	walk_to(w, pc, sender, w->fp);
	return true;
}

/*
 * In Deoptimization::unpack_frames the interpreted frames that replace a compiled one are linked already, but have no
 * methods yet. True when the step is done.
 */
WALK_PART bool walk_interp_skeleton(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 f[2], sender;

	if (!w || !l)
		return false;
	if (w->fp < w->sp || w->fp - w->sp > WALK_MAX_FRAME_BYTES || (w->fp & 7) || !w->code_pc ||
	    walk_blob(w, l, w->code_pc) || !walk_replaces_frames(w, l))
		return false;
	if (walk_read(w, f, sizeof(f), w->fp) ||
	    walk_read(w, &sender, 8, w->fp + 8 * (__u64)(__s64)l->interp_sender_sp))
		return false;
	if (sender <= w->fp || sender - w->fp > WALK_MAX_FRAME_BYTES || (sender & 7) ||
	    walk_has_caller(w, l, w->fp + 8) <= 0)
		return false;
	walk_push_code(w);
	walk_to(w, f[1], sender, f[0]);
	return true;
}

WALK_PART int walk_interpreter(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 method, sender, pc, fp;
	__s32 bci = -1;
	bool whole;

	if (!w || !l)
		return 1;
	whole = walk_interp_frame(w, l);
	method = walk_interp_word(w, l->interp_method);
	sender = walk_interp_word(w, l->interp_sender_sp);
	pc = w->words[WALK_FP_WORD + 1];
	fp = w->words[WALK_FP_WORD];
	w->java++;
	if (w->leaf) {
		if (whole)
			bci = walk_bci(w, l, method, w->r13);
		/*
		 * Either the bcp register is in this method's code, or pc is in another method's entry or exit code.
		 * At an exit the register may still be in the same method, in a frame further up.
		 */
		if (bci < 0 && (walk_interp_left(w, l) || walk_interp_entry(w, l)))
			return w->end != WALK_GOING;
		if (walk_interp_exit(w, l, bci < 0))
			return w->end != WALK_GOING;
	}
	/*
	 * A method that has called Java has a last sp. Without one, the frame may have what a former one has left
	 * there.
	 */
	if (!w->leaf && (!whole || !walk_interp_word(w, l->interp_method + 1)) && walk_interp_skeleton(w, l))
		return w->end != WALK_GOING;
	if (!whole) {
		walk_push_code(w);
		return walk_end(w, BRAID_END_BAD_INTERPRETER);
	}
	w->bcp = walk_interp_word(w, l->interp_bcp);
	if (bci < 0)
		bci = walk_bci(w, l, method, w->bcp < WALK_BCI_LIMIT ? walk_first_bcp(w, l, method) + w->bcp : w->bcp);
	walk_interp_push(w, method, bci);
	return walk_to(w, pc, sender, fp);
}

#endif
