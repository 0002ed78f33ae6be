// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Stacks that are still what they were. A thread that sleeps or wakes others often does so at the same place again,
 * with the same callers. A walk depends on the registers, on words of the thread's own stack, and on what the
 * generation of the process and the epoch of the JVM count. The words are noted during the walk. When all of that is
 * the same, the stack is the same, and reading the words at once takes a fraction of the walk. stack.bpf.h fills the
 * entries, and offcpu_emit.bpf.h asks for them.
 */
#ifndef BRAID_REUSE_BPF_H
#define BRAID_REUSE_BPF_H

#include "kernel_read.bpf.h"
#include "memo.bpf.h"
#include "names.bpf.h"

#define REUSE_WORDS 128		 /* a walk that depends on more is not reused */
#define REUSE_REACH WINDOW_WORDS /* words above sp */

/* Why a thread takes its stack. The two do not use each other's memory: one can interrupt the other. */
enum reuse_kind { REUSE_SLEEPER, REUSE_WAKER, REUSE_KINDS };

struct stack_reuse {
	/* The registers with which the thread entered the kernel. */
	__u64 pc;
	__u64 sp;
	__u64 fp;
	__u64 hash; /* of the words */
	struct braid_stack_ref ref;
	__u32 tgid;
	__u32 tid; /* 0: the entry does not hold */
	__u32 jvm;
	__u32 epoch; /* of the JVM, if there are Java frames */
	__u32 java;
	__u32 next; /* of the first entry of two: which of them is to be replaced next */
	__u32 words;
	__u32 reach; /* from sp to the last of them, in words */
	/* The system call and its first argument, how often in a row the words were the same with them, and when they
	 * were last read; 0: they have to be read. */
	__u32 call;
	__u32 same;
	__u64 argument;
	__u64 read_ns;
	__u16 at[REUSE_WORDS]; /* in words from sp */
};

/*
 * Each thread has two entries for each kind, because one that hands over work is switched where it waits and where it
 * wakes the other one. Only its own context uses them.
 */
#define REUSE_ENTRIES (2 * REUSE_KINDS)
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set at load */
	__type(key, __u32);
	__type(value, struct stack_reuse);
} stack_reuses SEC(".maps");

struct reuse_memory {
	__u64 word[REUSE_REACH];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, REUSE_KINDS);
	__type(key, __u32);
	__type(value, struct reuse_memory);
} reuse_memories SEC(".maps");

static __always_inline struct stack_reuse *reuse_at(__u32 key)
{
	return bpf_map_lookup_elem(&stack_reuses, &key);
}

/*
 * The first one of the two entries for the current thread, which is in a system call; 0: none. A thread that steps a
 * probed instruction is at an address that others use, too.
 */
static __always_inline __u32 reuse_key(struct task_struct *task, struct pt_regs *entry, __u32 place, __u32 kind)
{
	struct uprobe_task *step = TASK_POINTER(task, utask);

	if (!place || place >= BRAID_REUSES / REUSE_ENTRIES || entry->orig_ax >= NR_KNOWN ||
	    (step && step->state != UTASK_RUNNING))
		return 0;
	return place * REUSE_ENTRIES + 2 * (kind % REUSE_KINDS);
}

static __always_inline __u32 reuse_kind_of(__u32 key)
{
	return key / 2 % REUSE_KINDS;
}

static __always_inline bool reuse_is_here(const struct stack_reuse *r, struct task_struct *task, struct pt_regs *entry)
{
	return r->tid == (__u32)task->pid && r->pc == entry->ip && r->sp == entry->sp && r->fp == entry->bp;
}

/* The one of the two entries from `key` on that is for this place in the program, or which is to be replaced. */
static __always_inline __u32 reuse_choose(__u32 key, struct task_struct *task, struct pt_regs *entry)
{
	struct stack_reuse *first = reuse_at(key), *second = reuse_at(key + 1);

	if (!key || !first || !second)
		return 0;
	if (reuse_is_here(first, task, entry)) {
		first->next = 1;
		return key;
	}
	if (reuse_is_here(second, task, entry)) {
		first->next = 0;
		return key + 1;
	}
	return key + (first->next++ & 1);
}

/* ---- noting ---- */

/* Begins to note a walk of the current thread, unless `key` is 0. A global function: the verifier checks it once. */
__noinline int reuse_begin(__u32 slot, __u32 key)
{
	struct pt_regs *entry = (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	struct stack_reuse *r = key ? reuse_at(key) : NULL;
	struct sample *s = slot_at(slot);

	if (!r || !s || !s->generation || entry->sp & 7)
		return 0;
	r->tid = 0;
	r->pc = entry->ip;
	r->sp = entry->sp;
	r->fp = entry->bp;
	r->hash = 1;
	r->words = r->reach = r->same = 0;
	s->reuse = key;
	return 0;
}

static __always_inline void reuse_word(struct sample *s, struct stack_reuse *r, __u64 address, __u64 value)
{
	__u64 at = (address - r->sp) / 8;
	__u32 n = r->words;

	if (address & 7 || at >= REUSE_REACH || n >= REUSE_WORDS) {
		s->reuse = 0;
		return;
	}
	r->at[n] = (__u16)at;
	r->words = n + 1;
	if (at >= r->reach)
		r->reach = (__u32)at + 1;
	r->hash = braid_mix(r->hash, value);
}

/* The return address and the saved rbp, as the step has found them. */
static __always_inline void reuse_caller(struct sample *s, struct stack_reuse *r)
{
	const struct braid_walk *w = &s->w;

	reuse_word(s, r, w->sp - 8, w->pc);
	if (w->fp_at)
		reuse_word(s, r, w->fp_at, w->fp);
}

/* Notes the words of the last step, which has found a caller. They are those that a memo of the step compares. */
static __noinline int reuse_step(struct sample *s, const struct braid_layout *l)
{
	enum { METHOD = -3, SENDER_SP = -1, FP = 0, CALLER = 1 };
	struct stack_reuse *r = reuse_at(s->reuse);
	const struct sample_from *from = &s->from;
	const struct braid_walk *w = &s->w;
	__u32 last = s->depth - 1;
	__u64 at = from->fp;

	if (!r || last >= BRAID_MAX_FRAMES || w->frozen_end) {
		s->reuse = 0;
		return 0;
	}
	if (w->interpreted != from->interpreted && l && !from->leaf) {
		reuse_word(s, r, at + 8 * (__s64)l->interp_bcp, w->bcp);
		reuse_word(s, r, at + 8 * METHOD, braid_frame_method(s->frames[last]));
		reuse_word(s, r, at + 8 * SENDER_SP, w->sp);
		reuse_word(s, r, at + 8 * FP, w->fp);
		reuse_word(s, r, at + 8 * CALLER, w->pc);
	} else if (w->fp_at != WALK_FP_ELSEWHERE && (s->frames[last] & BRAID_FRAME_ADDR_MASK) == from->pc) {
		reuse_caller(s, r);
	} else {
		s->reuse = 0;
	}
	return 0;
}

/* The same for the last step of a walk. */
static __noinline int reuse_root(struct sample *s)
{
	struct stack_reuse *r = reuse_at(s->reuse);

	if (!r || s->w.end != BRAID_END_COMPLETE || s->w.fp_at == WALK_FP_ELSEWHERE)
		s->reuse = 0;
	else if (!s->w.pc)
		reuse_caller(s, r);
	return 0;
}

/* The walk has ended, and the collector has the stack. */
static __always_inline void reuse_end(struct sample *s, const struct braid_stack_ref *ref)
{
	struct stack_reuse *r = reuse_at(s->reuse);

	if (!r || s->w.end != BRAID_END_COMPLETE || !r->words ||
	    (s->w.java && (s->code_moves || s->epoch & NAMES_UNSURE)))
		return;
	r->ref = *ref;
	r->ref.bytes = 0;
	r->tgid = s->tgid;
	r->jvm = s->process.jvm;
	r->java = s->w.java;
	r->epoch = s->epoch;
	barrier();
	r->tid = s->event.tid;
}

/* ---- using ---- */

__noinline __u64 reuse_hash(const struct stack_reuse *r, const struct reuse_memory *m)
{
	__u64 hash = 1;

	if (!r || !m)
		return 0;
	for (__u32 i = 0; i < REUSE_WORDS && i < r->words; i++)
		hash = braid_mix(hash, m->word[r->at[i] % REUSE_REACH]);
	return hash;
}

/* Whether the words are what they were. */
static __always_inline bool reuse_same_words(const struct stack_reuse *r, __u32 kind)
{
	struct reuse_memory *m = bpf_map_lookup_elem(&reuse_memories, &kind);
	__u32 bytes = r->reach * 8;

	barrier_var(bytes);
	if (!m || !bytes || bytes > sizeof(*m) || bpf_probe_read_user(m, bytes, (const void *)r->sp))
		return false;
	return reuse_hash(r, m) == r->hash;
}

/* ---- a moment ago ---- */

/*
 * A thread that switches tens of thousands of times a second is in the same few places. When the words were the same so
 * often in a row, in the same system call about the same thing, they are not read again for a short time. A thread that
 * leaves such a place for another one with the same registers has the former stack for that time at most.
 */
#define REUSE_STEADY 64
#define REUSE_SUM_NS 1000000  /* where times are added up */
#define REUSE_EVENT_NS 200000 /* for what is reported one by one, and its wakers */

static __always_inline bool reuse_is_call(const struct stack_reuse *r, struct pt_regs *entry)
{
	return r->call == (__u32)entry->orig_ax && r->argument == entry->di;
}

static __always_inline bool reuse_is_recent(const struct stack_reuse *r, struct task_struct *task,
					    struct pt_regs *entry, __u64 since)
{
	return r && r->read_ns > since && reuse_is_here(r, task, entry) && r->same && reuse_is_call(r, entry);
}

/* The entry, from `key` on, whose words were read after `since`; NULL: they have to be read. */
static __always_inline const struct stack_reuse *reuse_recent(__u32 key, struct task_struct *task,
							      struct pt_regs *entry, __u64 since)
{
	const struct stack_reuse *r = key ? reuse_at(key) : NULL;

	if (!key || reuse_is_recent(r, task, entry, since))
		return r;
	r = reuse_at(key + 1);
	return reuse_is_recent(r, task, entry, since) ? r : NULL;
}

/* The words of one of the entries from `key` on were the same. */
static __always_inline void reuse_note_same(__u32 key, struct task_struct *task, struct pt_regs *entry, __u64 now)
{
	struct stack_reuse *r = reuse_at(key);

	if (r && !reuse_is_here(r, task, entry))
		r = reuse_at(key + 1);
	if (!key || !r || !reuse_is_here(r, task, entry))
		return;
	if (!reuse_is_call(r, entry)) {
		r->call = (__u32)entry->orig_ax;
		r->argument = entry->di;
		r->same = 0;
	}
	if (r->same < REUSE_STEADY)
		r->same++;
	r->read_ns = r->same < REUSE_STEADY ? 0 : now;
}

#endif
