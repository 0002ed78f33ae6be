// SPDX-License-Identifier: Apache-2.0
/*
 * The stack walker: from the registers of an interrupted thread to its first frame, through native, compiled Java,
 * interpreted and stub frames. The eBPF programs, the collector's deferred unwind and the host's tests and tools
 * compile the same source.
 *
 * The including file first defines how the walk accesses its surroundings:
 *
 *	static long walk_read(struct braid_walk *w, void *to, __u32 size, __u64 address);
 *		copies memory of the walked process; 0 on success
 *	static bool walk_mapping(struct braid_walk *w, __u64 pc, struct braid_mapping *m);
 *		finds the executable mapping around pc; `m` may be NULL
 *	static __u32 walk_rule(struct braid_walk *w, const struct braid_mapping *m, __u64 vaddr);
 *		returns the unwind rule in force at an ELF virtual address of the mapping's module
 *	static void walk_push(struct braid_walk *w, __u64 frame);
 *		receives the next frame
 *	static __u64 walk_java_thread(struct braid_walk *w);
 *		returns the walked thread's JavaThread, 0 when not known; called only when the walk depends on it
 *
 * Then it calls walk_step(), which pushes one frame and finds the next, until that returns non-zero or the depth
 * limit is reached.
 *
 * Foreign facts, all for x86-64: HotSpot frames as in hotspot/cpu/x86/frame_x86.hpp, compiled prologues and epilogues
 * as in MacroAssembler::verified_entry and the C1 and C2 epilogue emitters, code heap as in
 * hotspot/share/memory/heap.cpp.
 */
#ifndef BRAID_WALK_H
#define BRAID_WALK_H

#include <braid/walk/compiled.h>
#include <braid/walk/continuation.h>
#include <braid/walk/interpreter.h>
#include <braid/walk/native.h>

/* True if the walk ended in native code without usable CFI, or in a library that is too new to be known. */
WALK_INLINE bool walk_is_lost(const struct braid_walk *w)
{
	return w->end == BRAID_END_NO_CFI || w->end == BRAID_END_BAD_CFI || w->end == BRAID_END_BAD_RA ||
	       w->end == BRAID_END_NO_MAPPING || w->end == BRAID_END_NO_TABLE;
}

/*
 * A thread that leaves Java code for native code or the VM keeps its Java frame's registers (JavaFrameAnchor). A walk
 * that is lost before any Java frame continues there, without the native frames between. Returns 0 if it does.
 */
WALK_PART int walk_anchor(struct braid_walk *w, const struct braid_layout *l)
{
	__u64 thread, pc, sp, fp;

	if (!w || !l || w->java || !l->thread_anchor_sp)
		return 1;
	thread = walk_java_thread(w);
	if (!thread || walk_read(w, &sp, 8, thread + l->thread_anchor_sp) || !sp || (sp & 7) ||
	    walk_read(w, &fp, 8, thread + l->thread_anchor_fp) || walk_read(w, &pc, 8, thread + l->thread_anchor_pc))
		return 1;
	/* The VM fills in the pc only on demand; before that the return address is below sp. */
	if (!pc && walk_read(w, &pc, 8, sp - 8))
		return 1;
	if (!walk_in_interpreter(l, pc) && walk_heap(l, pc) >= BRAID_CODE_HEAPS)
		return 1;
	w->pc = pc;
	w->sp = sp;
	w->fp = fp;
	w->leaf = 0;
	w->end = WALK_GOING;
	w->fp_at = WALK_FP_ELSEWHERE;
	return 0;
}

/*
 * Pushes the frame at pc and moves to its caller. Returns 0, or 1 when the walk is over, with the reason in w->end. `l`
 * is NULL when the process is no JVM.
 */
WALK_INLINE int walk_step(struct braid_walk *w, const struct braid_layout *l)
{
	w->fp_at = WALK_FP_ELSEWHERE;
	if (l && (l->flags & BRAID_LAYOUT_WALKABLE)) {
		__u64 pc = walk_lookup_pc(w);

		if (walk_in_continuation(w, l))
			return walk_continuation(w, l);
		if (walk_in_interpreter(l, pc))
			return walk_interpreter(w, l);
		if (walk_heap(l, pc) < BRAID_CODE_HEAPS)
			return walk_compiled(w, l);
		return walk_native(w, l) && (!walk_is_lost(w) || walk_anchor(w, l));
	}
	return walk_native(w, l);
}

#endif
