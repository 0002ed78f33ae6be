// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* The slots: the memory that one walk needs for itself, and who may use which when. All programs that walk use them. */
#ifndef BRAID_SLOT_BPF_H
#define BRAID_SLOT_BPF_H

#include "deferred.bpf.h"
#include "maps.bpf.h"

#define WALK_RULE_AT /* see rules.bpf.h */
#include <braid/mix.h>
#include <braid/walk.h>
/* Set before loading. */
const volatile __u32 cpu_count;	  /* slots for ticks come first, then one per CPU for stacks of events */
const volatile __u32 spare_slots; /* and some for stacks of events while another is preempted on the same CPU */

/*
 * A piece of the thread's stack, up to the end of its page: a call that reads user memory takes as long for one word as
 * for hundreds.
 */
#define WINDOW_WORDS 512
#define WINDOW_REACH (1ULL << 20) /* an address farther from sp is not treated as part of the stack */

/* The frame that a step starts from, for what is remembered of the step. */
struct sample_from {
	__u64 pc, sp, fp;
	__u32 java, interpreted;
	__u32 leaf, reserved;
};

/* One sample in progress. */
struct sample {
	struct braid_walk w; /* w.slot is its own number */
	struct sample_from from;
	__u64 hash;
	__u32 busy;  /* being taken */
	__u32 known; /* `process` is valid */
	__u32 depth; /* frames so far */
	__u32 epoch; /* of the JVM */
	__u32 tgid;
	__u32 generation; /* of the process's addresses */
	__u32 kernel_depth;
	__u32 carries;		   /* the frames are of a virtual thread, known or not */
	__u32 span_bytes;	   /* sent of a new span */
	__u32 reuse;		   /* the entry of `stack_reuses` that notes this walk; 0: none */
	__u32 code_moves;	   /* the JVM has just unloaded code: memos of its compiled frames are not trusted */
	__u64 kernel_hash;	   /* of the kernel's frames alone */
	__u64 owner;		   /* of memos: process, generation and epoch */
	__u64 mounted;		   /* the virtual thread, if the thread itself says so; 0: the walk finds it */
	__u64 stub_fp;		   /* frame of the last call_stub passed; 0: none */
	struct braid_mapping last; /* the last mapping found: a caller is mostly in the same one */
	__u64 window_at;	   /* address and size of the memory in `window` */
	__u64 window_bytes;
	struct braid_process process;
	struct deferred_regs leaf;
	__u64 window[WINDOW_WORDS];
	struct braid_event_hit hit;
	struct braid_event_sample event; /* the frames follow it */
	__u64 frames[BRAID_MAX_FRAMES];
};

/*
 * A program that takes a stack has a slot for itself, and by the slot's number all else that must not be shared:
 * memos and the buffers for names. A tick uses the slot of its CPU; programs that can be preempted take one of the
 * others.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set at load */
	__type(key, __u32);
	__type(value, struct sample);
} samples SEC(".maps");

static __always_inline struct sample *slot_at(__u32 slot)
{
	return bpf_map_lookup_elem(&samples, &slot);
}

static __always_inline void stack_push(struct sample *s, __u64 frame)
{
	__u32 at = s->depth;

	if (at >= BRAID_MAX_FRAMES)
		return;
	s->frames[at] = frame;
	s->depth = at + 1;
	s->hash = braid_mix(s->hash, frame);
}

#define SPARE_SLOTS_MAX 16
#define SLOT_NONE 0xffffffffU

/*
 * A slot for a program that can be preempted by another thread's; SLOT_NONE when all are in use. A global function: the
 * verifier checks it once.
 */
__noinline __u32 slot_take(void)
{
	__u32 slot = cpu_count + bpf_get_smp_processor_id();

	for (__u32 i = 0; i <= SPARE_SLOTS_MAX && i <= spare_slots; i++) {
		struct sample *s = slot_at(slot);

		if (s && !__sync_lock_test_and_set(&s->busy, 1))
			return slot;
		slot = 2 * cpu_count + i;
	}
	return SLOT_NONE;
}

static __always_inline void slot_release(struct sample *s)
{
	barrier();
	s->busy = 0;
}

#endif
