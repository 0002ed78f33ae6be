// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* CPU sampling: at every tick of a perf event, the whole stack of what runs, leaf first. */
#ifndef BRAID_SAMPLE_BPF_H
#define BRAID_SAMPLE_BPF_H

#include "late.bpf.h"
#include "maps.bpf.h"
#include "names.bpf.h"

#define WALK_RULE_AT
#include <braid/walk.h>

#include "vthread.bpf.h"

/* Set before loading. */
const volatile bool system_wide;		  /* record processes that are not in `processes`, too */
const volatile __u32 max_depth = BRAID_MAX_DEPTH; /* user frames per stack */
const volatile __u32 memo_shift;		  /* log2 of the memos that a CPU has */

/*
 * What a step was like the last time on this CPU: from a frame of a process to its caller. Most callers of a thread are
 * still there at the next tick; then comparing the words that the step would read with what they were saves finding
 * out, at the price of several cache and TLB misses, where they lie. Code that has a frame on a stack cannot go away,
 * so the step would be the same: what is believed here was verified word by word.
 */
enum sample_memo_kind { MEMO_NATIVE = 0, MEMO_CODE = 1, MEMO_INTERPRETED = 2 };

struct sample_memo {
	__u64 sp;
	__u64 fp;
	__u64 owner; /* process, epoch, and enum sample_memo_kind */
	__u64 caller_sp;
	__u64 caller_pc;
	__u64 caller_fp;
	__u64 word; /* the frame's */
	union {
		__u64 fp_at; /* where caller_fp was read, or 0: fp was left alone */
		__u64 bcp;   /* interpreted */
	};
};
_Static_assert(sizeof(struct sample_memo) == 64, "a cache line");

/* Each CPU has as many in a row. What can be mapped begins with a page: an entry is a whole line of the cache. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set at load */
	__type(key, __u32);
	__type(value, struct sample_memo);
} memos SEC(".maps");

/* The entry for frames at `sp`. Frames lie 16 bytes apart at the least, and stacks of threads 1 MiB, often. */
static __always_inline struct sample_memo *memo_at(__u64 sp)
{
	__u32 entries = 1U << (memo_shift & 31);
	__u32 key = bpf_get_smp_processor_id() * entries + (((sp >> 4) + (sp >> 20) * 2531) & (entries - 1));

	return bpf_map_lookup_elem(&memos, &key);
}

/*
 * Unwind rules that were found for addresses of native code. They hold as long as the process's mappings are what they
 * were, which is what the generation says.
 */
struct rule_memo {
	__u64 pc;
	__u32 generation;
	__u32 rule;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, BRAID_RULE_MEMOS); /* set at load: of each CPU */
	__type(key, __u32);
	__type(value, struct rule_memo);
} rule_memos SEC(".maps");

/*
 * A piece of the thread's stack, to the end of its page: a call that reads user memory takes as long for a word as for
 * hundreds of them.
 */
#define WINDOW_WORDS 512
#define WINDOW_REACH (1ULL << 20) /* how far from sp an address is still taken for one of the stack's */

/* One sample in the making; `w` comes first, so that a pointer to it is one to the whole. */
struct sample {
	struct braid_walk w;
	__u64 hash;
	__u32 busy;  /* being taken */
	__u32 known; /* `process` is valid */
	__u32 depth; /* frames so far */
	__u32 epoch; /* of the JVM */
	__u32 tgid;
	__u32 generation; /* of the process's addresses */
	__u32 kernel_depth;
	__u32 code_moves;	   /* the JVM unloads code these days: memos of its frames are not believed */
	__u64 kernel_hash;	   /* of the frames of the kernel alone */
	__u64 owner;		   /* of memos: process, generation and epoch */
	struct braid_mapping last; /* the mapping found before: a caller is mostly in the same one */
	__u64 window_at;	   /* what lies in `window`, and how much of it */
	__u64 window_bytes;
	struct braid_process process;
	struct late_regs leaf;
	__u64 window[WINDOW_WORDS];
	struct braid_event_sample event; /* the frames come behind it */
	__u64 frames[BRAID_MAX_FRAMES];
};

/* One per CPU; a per-CPU map's values may have 32 KiB at most. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set at load */
	__type(key, __u32);
	__type(value, struct sample);
} samples SEC(".maps");

static __always_inline struct sample *sample_here(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&samples, &cpu);
}

/*
 * Stacks that the collector has seen: slot hash % size holds the hash. Two stacks that share a slot are merely sent
 * more often, and so needs no lock and no care.
 */
#define SENT_STACKS (1 << 17)
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SENT_STACKS);
	__type(key, __u32);
	__type(value, __u64);
} sent_stacks SEC(".maps");

/* What a step of the walk is called with. */
struct sample_step {
	struct sample *s;
	const struct braid_layout *layout;
};

static __always_inline bool window_has(const struct sample *s, __u64 address, __u32 bytes)
{
	return !(address & 7) && address - s->window_at < s->window_bytes &&
	       s->window_bytes - (address - s->window_at) >= bytes;
}

static __always_inline __u64 window_word(const struct sample *s, __u64 address, __u32 i)
{
	return s->window[((address - s->window_at) / 8 + i) % WINDOW_WORDS];
}

/* Reads from the line of `address` to the end of its page; false when that is not in memory. */
static __always_inline bool window_load(struct sample *s, __u64 address)
{
	__u64 from = address & ~63ULL;
	__u32 bytes = 4096 - (from & 4095);

	s->window_bytes = 0;
	if (bpf_probe_read_user(s->window, bytes, (const void *)from))
		return false;
	s->window_at = from;
	s->window_bytes = bytes;
	return true;
}

static __noinline bool window_move(struct sample *s, __u64 address)
{
	return window_load(s, address);
}

/* `count` words; the thread's own stack is read by the page. */
static __always_inline long stack_read(__u64 *to, __u32 count, __u64 address, __u64 sp)
{
	struct sample *s = sample_here();

	if (!s)
		return -1;
	if (!window_has(s, address, count * 8) &&
	    (address - sp + 256 > WINDOW_REACH || !window_load(s, address) || !window_has(s, address, count * 8)))
		return bpf_probe_read_user(to, count * 8, (const void *)address);
	for (__u32 i = 0; i < count; i++)
		to[i] = window_word(s, address, i);
	return 0;
}

struct stack_words {
	__u64 word[2];
};

/* Verified once, and not at each call. */
__noinline long stack_read_1(__u64 *to, __u64 address, __u64 sp)
{
	return to ? stack_read(to, 1, address, sp) : -1;
}

__noinline long stack_read_2(struct stack_words *to, __u64 address, __u64 sp)
{
	return to ? stack_read(to->word, 2, address, sp) : -1;
}

/* The words around the frame pointer of an interpreted frame. */
struct stack_frame {
	__u64 word[10];
};

__noinline long stack_read_10(struct stack_frame *to, __u64 address, __u64 sp)
{
	return to ? stack_read(to->word, 10, address, sp) : -1;
}

WALK_INLINE long walk_read(struct braid_walk *w, void *to, __u32 size, __u64 address)
{
	if (size == 8) {
		*(__u64 *)to = 0; /* older verifiers want it */
		return stack_read_1(to, address, w->sp);
	}
	if (size == 16) {
		*(struct stack_words *)to = (struct stack_words){{0, 0}};
		return stack_read_2(to, address, w->sp);
	}
	if (size == sizeof(struct stack_frame))
		return stack_read_10(to, address, w->sp);
	return bpf_probe_read_user(to, size, (const void *)address);
}

static __always_inline __u64 sample_mix(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL; /* 2^64 / golden ratio */
	return hash ^ hash >> 29;
}

WALK_INLINE __u64 walk_java_thread(struct braid_walk *w)
{
	return java_thread_own((__u32)w->jvm);
}

WALK_INLINE void walk_push(struct braid_walk *w, __u64 frame)
{
	struct sample *s = (struct sample *)w;
	__u32 at = s->depth;

	if (at >= BRAID_MAX_FRAMES)
		return;
	s->frames[at] = frame;
	s->depth = at + 1;
	s->hash = sample_mix(s->hash, frame);
}

/* Steps of a binary search over one process's mappings (2^16 at most) and over one page's rows (one per byte at most).
 */
#define MAPPING_STEPS 17
#define ROW_STEPS (BRAID_UNWIND_PAGE_SHIFT + 1)

__noinline int find_mapping(__u64 pc, struct braid_mapping *m)
{
	struct sample *s = sample_here();
	__u32 low, high;

	if (!s || !m)
		return 0;
	low = s->process.first_mapping;
	high = low + s->process.mapping_count;

	if (pc >= s->last.start && pc < s->last.end) {
		*m = s->last;
		return 1;
	}
	for (int i = 0; i < MAPPING_STEPS && low < high; i++) {
		__u32 middle = (low + high) / 2;
		struct braid_mapping *at = bpf_map_lookup_elem(&mappings, &middle);

		if (!at)
			return 0;
		if (pc < at->start) {
			high = middle;
		} else if (pc >= at->end) {
			low = middle + 1;
		} else {
			*m = s->last = *at;
			return 1;
		}
	}
	return 0;
}

WALK_INLINE bool walk_mapping(struct braid_walk *w, __u64 pc, struct braid_mapping *m)
{
	(void)w;
	*m = (struct braid_mapping){0}; /* older verifiers want it */
	return find_mapping(pc, m);
}

__noinline __u32 find_rule(__u32 table, __u64 vaddr)
{
	__u32 key = table, low, high, base;
	struct braid_table *t = bpf_map_lookup_elem(&tables, &key);
	struct braid_unwind_row *row;
	struct braid_page *p;
	__u64 page;

	if (!t)
		return BRAID_CFA_NONE;
	page = (vaddr >> BRAID_UNWIND_PAGE_SHIFT) - t->first_page;
	if (page >= t->page_count)
		return BRAID_CFA_NONE;
	base = t->rows_at;
	key = t->pages_at + (__u32)page;
	p = bpf_map_lookup_elem(&pages, &key);
	if (!p)
		return BRAID_CFA_NONE;
	low = p->first;
	high = p->end;
	for (int i = 0; i < ROW_STEPS && low < high; i++) {
		__u32 middle = (low + high) / 2;

		key = base + middle;
		row = bpf_map_lookup_elem(&rows, &key);
		if (!row)
			return BRAID_CFA_NONE;
		if (row->pc <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return BRAID_CFA_NONE;
	key = base + low - 1;
	row = bpf_map_lookup_elem(&rows, &key);
	return row ? row->rule : BRAID_CFA_NONE;
}

WALK_INLINE __u32 walk_rule(struct braid_walk *w, const struct braid_mapping *m, __u64 vaddr)
{
	(void)w;
	return find_rule(m->table, vaddr);
}

/* The rule in force at `pc`, or what stands in its way. */
static __always_inline __u32 walk_rule_at(struct braid_walk *w, __u64 pc)
{
	struct sample *s = (struct sample *)w;
	__u32 key = bpf_get_smp_processor_id() * BRAID_RULE_MEMOS + (pc ^ pc >> 12) % BRAID_RULE_MEMOS, rule;
	struct rule_memo *m = bpf_map_lookup_elem(&rule_memos, &key);

	if (m && m->pc == pc && m->generation == s->generation && s->generation)
		return m->rule;
	rule = walk_rule_find(w, pc);
	if (m && braid_rule_cfa(rule) < WALK_CFA_NO_TABLE) {
		m->pc = pc;
		m->generation = s->generation;
		m->rule = rule;
	}
	return rule;
}

/* Is the caller that `m` remembers still the caller? Its return address is right below its stack pointer. */
static __always_inline bool memo_holds(struct sample *s, const struct sample_memo *m)
{
	__u64 at = m->caller_sp - 16, fp_at = m->fp_at ?: at;

	if ((m->word & BRAID_FRAME_ADDR_MASK) != s->w.pc)
		return false;
	if (!window_has(s, at, 16) || !window_has(s, fp_at, 8)) {
		if (!window_move(s, fp_at < at ? fp_at : at) || !window_has(s, at, 16) || !window_has(s, fp_at, 8))
			return false;
	}
	return window_word(s, at, 1) == m->caller_pc && (!m->fp_at || window_word(s, fp_at, 0) == m->caller_fp);
}

/* The same for an interpreted frame, all of whose words lie around its fp. */
static __always_inline bool memo_holds_interpreted(struct sample *s, const struct braid_layout *l,
						   const struct sample_memo *m)
{
	enum { FP = 8, METHOD = FP - 3, SENDER_SP = FP - 1 };
	__u64 at = s->w.fp - 8 * FP, bcp;

	if (!l || !walk_in_interpreter(l, s->w.pc))
		return false;
	if (!window_has(s, at, 8 * (FP + 2)) && (!window_move(s, at) || !window_has(s, at, 8 * (FP + 2))))
		return false;
	bcp = window_word(s, at, l->interp_bcp == -FP ? 0 : 1);
	return bcp == m->bcp && window_word(s, at, METHOD) == braid_frame_method(m->word) &&
	       window_word(s, at, SENDER_SP) == m->caller_sp && window_word(s, at, FP) == m->caller_fp &&
	       window_word(s, at, FP + 1) == m->caller_pc;
}

/* Goes to the caller by the memo: false when there is none that holds. */
static __always_inline bool memo_step(struct sample *s, const struct braid_layout *l, const struct sample_memo *m)
{
	struct braid_walk *w = &s->w;
	__u32 kind = m->owner & 3;

	if (m->sp != w->sp || m->fp != w->fp || (m->owner & ~3ULL) != s->owner)
		return false;
	if (kind == MEMO_INTERPRETED) {
		if (!memo_holds_interpreted(s, l, m))
			return false;
		w->interpreted++;
	} else if ((kind == MEMO_CODE && s->code_moves) || !memo_holds(s, m)) {
		return false;
	}
	walk_push(w, m->word);
	if (kind == MEMO_NATIVE)
		w->native++;
	else
		w->java++;
	w->pc = m->caller_pc;
	w->sp = m->caller_sp;
	w->fp = m->caller_fp;
	return true;
}

/* The frame that a step starts from, to remember what became of it. */
struct sample_from {
	__u64 sp, fp;
	__u32 java, interpreted;
};

static __always_inline void memo_store(const struct sample *s, struct sample_memo *m, const struct sample_from *from)
{
	const struct braid_walk *w = &s->w;
	__u32 last = s->depth - 1;

	if (last >= BRAID_MAX_FRAMES)
		return;
	if (w->interpreted != from->interpreted) {
		m->owner = s->owner | MEMO_INTERPRETED;
		m->bcp = w->bcp;
	} else if (w->fp_at != WALK_FP_ELSEWHERE) {
		m->owner = s->owner | (w->java != from->java ? MEMO_CODE : MEMO_NATIVE);
		m->fp_at = w->fp_at;
	} else {
		return;
	}
	m->word = s->frames[last];
	m->sp = from->sp;
	m->fp = from->fp;
	m->caller_sp = w->sp;
	m->caller_pc = w->pc;
	m->caller_fp = w->fp;
}

static long sample_step(__u32 i, void *ctx)
{
	struct sample_step *step = ctx;
	struct sample *s = step->s;
	struct braid_walk *w = &s->w;
	struct sample_from from = {.sp = w->sp, .fp = w->fp, .java = w->java, .interpreted = w->interpreted};
	bool plain = !w->leaf && !w->frozen_end;
	struct sample_memo *m = memo_at(w->sp);

	(void)i;
	if (!m)
		return 1;
	if (plain && memo_step(s, step->layout, m))
		return 0;
	if (walk_step(w, step->layout))
		return 1;
	if (plain)
		memo_store(s, m, &from);
	return 0;
}

/* The user registers of a tick in user mode. */
static __always_inline void sample_event_regs(const struct bpf_perf_event_data *ctx, struct braid_walk *w)
{
	w->pc = ctx->regs.ip;
	w->sp = ctx->regs.sp;
	w->fp = ctx->regs.bp;
	w->rax = ctx->regs.ax;
	w->rbx = ctx->regs.bx;
	w->r10 = ctx->regs.r10;
	w->r13 = ctx->regs.r13;
}

/* The user registers from where the kernel was entered: false when there are none. */
static __always_inline bool sample_entry_regs(struct task_struct *task, struct braid_walk *w)
{
	struct pt_regs *entry;

	if ((task->flags & PF_KTHREAD) || !task->mm)
		return false;
	entry = (struct pt_regs *)bpf_task_pt_regs(task);
	w->pc = entry->ip;
	w->sp = entry->sp;
	w->fp = entry->bp;
	w->rax = entry->ax;
	w->rbx = entry->bx;
	w->r10 = entry->r10;
	w->r13 = entry->r13;
	return true;
}

/* do_execveat_common(), where the kernel says so. */
static __always_inline bool task_in_execve(struct task_struct *task)
{
	return bpf_core_field_exists(task->in_execve) && BPF_CORE_READ_BITFIELD_PROBED(task, in_execve);
}

/*
 * Other code may lie where a frame's code was when its memo was made, below the same words of the stack. The epoch says
 * so, but late: the JVM tells of unloaded code when it has time.
 */
#define CODE_SETTLES_NS 1000000000ULL

static __always_inline void sample_walk_user(struct sample *s)
{
	struct sample_step step = {.s = s};
	struct braid_jvm *jvm;
	__u32 slot;

	s->w.leaf = 1;
	s->w.end = WALK_GOING;
	s->w.blob_low = s->w.blob_high = 0;
	s->w.entry = s->w.frozen_end = s->w.yielded = 0;
	s->window_bytes = 0;
	if (!s->known) {
		walk_push(&s->w, BRAID_FRAME_EXACT | (s->w.pc & BRAID_FRAME_ADDR_MASK));
		s->w.native++;
		s->w.end = BRAID_END_NO_PROCESS;
		return;
	}
	s->last.start = s->last.end = 0;
	s->code_moves = 0;
	if (s->process.jvm) {
		slot = s->process.jvm - 1;
		jvm = bpf_map_lookup_elem(&jvms, &slot);
		if (jvm) {
			step.layout = &jvm->layout;
			s->epoch = names_epoch(jvm);
			s->code_moves =
				jvm->code_unload_ns && s->event.hdr.time_ns - jvm->code_unload_ns < CODE_SETTLES_NS;
			s->w.jvm = java_thread_jvm(slot, jvm->generation);
		}
	}
	s->owner = (__u64)s->tgid << 32 | ((s->epoch ^ s->generation << 16) << 2 & 0xffffffffU);
	bpf_loop(max_depth, sample_step, &step, 0);
	if (s->w.end == WALK_GOING)
		s->w.end = BRAID_END_DEPTH;
	if (s->w.entry)
		s->event.vthread = vthread_identify(&s->w, step.layout);
}

/* The kernel's part of the stack; a sample in user mode has none. `ctx` is the program's own, of whatever type. */
static __always_inline void sample_walk_kernel(void *ctx, struct sample *s)
{
	long bytes = bpf_get_stack(ctx, s->frames, BRAID_MAX_KERNEL_DEPTH * 8, 0);

	s->depth = bytes > 0 ? (__u32)bytes / 8 : 0;
	for (__u32 i = 0; i < BRAID_MAX_KERNEL_DEPTH && i < s->depth; i++)
		s->hash = sample_mix(s->hash, s->frames[i]);
}

static __always_inline void sample_reset(struct sample *s, const struct braid_process *p, __u64 now)
{
	struct braid_event_sample *e = &s->event;
	__u64 id = bpf_get_current_pid_tgid();

	s->tgid = id >> 32;
	s->known = p != NULL;
	if (p)
		s->process = *p;
	s->generation = p ? p->generation : 0;
	s->hash = sample_mix((__u64)s->tgid << 32 | 1, s->generation);
	s->depth = s->epoch = s->w.java = s->w.native = s->w.interpreted = 0;
	e->hdr.time_ns = now;
	e->pid = id >> 32;
	e->tid = (__u32)id;
	e->cpu = bpf_get_smp_processor_id();
	e->generation = s->generation;
	e->vthread = 0;
}

/* The user's part of the stack: false when the collector is to find it. */
static __always_inline bool sample_user(struct sample *s, struct task_struct *task)
{
	s->kernel_depth = s->depth;
	s->kernel_hash = s->hash;
	s->leaf = (struct late_regs){.pc = s->w.pc,
				     .sp = s->w.sp,
				     .fp = s->w.fp,
				     .rax = s->w.rax,
				     .rbx = s->w.rbx,
				     .r10 = s->w.r10,
				     .r13 = s->w.r13};
	sample_walk_user(s);
	/* Between its old memory and its new registers, a thread that executes a program has no stack. */
	if (s->w.end && s->kernel_depth && task_in_execve(task)) {
		s->depth = s->kernel_depth;
		s->hash = s->kernel_hash;
		s->generation = s->event.generation = 0; /* which of the two it is does not matter */
		s->w.native = 0;
		return true;
	}
	if (s->w.end && late_wanted(s->known ? &s->process : NULL, s->w.end) &&
	    late_send(&s->event, &s->leaf, s->frames, s->kernel_depth, s->w.end))
		return false;
	if (s->w.end)
		walk_push(&s->w, (__u64)BRAID_FRAME_END << 60 | s->w.end);
	if (s->w.java) /* code and methods may be unloaded, and their addresses reused */
		s->hash = sample_mix(s->hash, s->epoch);
	return true;
}

/* What the interpreted frames among them are called; false when there was no room to say so. */
static __always_inline bool sample_names(const struct sample *s, __u32 frames)
{
	__u32 slot = s->known ? s->process.jvm - 1 : BRAID_MAX_JVMS;
	struct braid_jvm *jvm = bpf_map_lookup_elem(&jvms, &slot);

	return !jvm || names_send(&s->event, s->frames, frames, &jvm->layout, s->epoch);
}

/* Sends the sample, with its frames when they are news. */
static __always_inline void sample_send(struct sample *s, struct braid_counters *c)
{
	struct braid_event_sample *e = &s->event;
	__u64 *sent;
	__u32 slot = (__u32)(s->hash >> 20) % SENT_STACKS, frames = s->depth;

	if (frames > BRAID_MAX_FRAMES)
		frames = BRAID_MAX_FRAMES;
	sent = bpf_map_lookup_elem(&sent_stacks, &slot);
	if (sent && *sent == s->hash && !(s->w.interpreted && (s->epoch & NAMES_UNSURE)))
		frames = 0;
	if (frames && s->w.interpreted && !sample_names(s, frames)) {
		c->samples_lost++;
		return;
	}
	e->hdr.kind = BRAID_EVENT_SAMPLE;
	e->hdr.size = sizeof(*e) + frames * 8;
	e->frame_count = frames;
	e->stack = s->hash;
	if (bpf_ringbuf_output(&events, e, sizeof(*e) + frames * 8, BPF_RB_NO_WAKEUP)) {
		c->samples_lost++;
		return;
	}
	/* Of an address space that is not known yet the hash says too little. */
	if (frames && sent && s->generation)
		*sent = s->hash;
	c->stacks_sent += frames != 0;
}

#define WALK_TIMED 16 /* one sample in so many tells how long they take */

/*
 * A program of any type takes a sample by sample_begin(), which is NULL when there is nothing to record; the kernel's
 * part of the stack; the user registers; and sample_take(), always. A tick may come while another program takes one.
 */
static __always_inline struct sample *sample_begin(void)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct braid_counters *c = counters_get();
	struct braid_process *p;
	struct sample *s;

	if (!c || (__u32)bpf_get_current_pid_tgid() == 0) /* the idle task */
		return NULL;
	p = bpf_map_lookup_elem(&processes, &tgid);
	if (!p && !system_wide)
		return NULL;
	s = sample_here();
	if (!s)
		return NULL;
	if (s->busy) {
		c->samples_lost++;
		return NULL;
	}
	s->busy = 1;
	barrier();
	sample_reset(s, p, now);
	return s;
}

/* The rest of the sample: without user registers, it ends where the kernel's part does. */
static __always_inline int sample_take(struct sample *s, bool user)
{
	struct braid_counters *c = counters_get();

	if (c) {
		c->frames_kernel += s->depth;
		c->samples++;
		if (!user || sample_user(s, bpf_get_current_task_btf()))
			sample_send(s, c);
		c->frames_java += s->w.java;
		c->frames_native += s->w.native;
		if (c->samples % WALK_TIMED == 0) /* asking for the time takes a part of it */
			c->walk_ns += (bpf_ktime_get_ns() - s->event.hdr.time_ns) * WALK_TIMED;
	}
	barrier();
	s->busy = 0;
	return 0;
}

SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	struct sample *s = sample_begin();

	if (!s)
		return 0;
	if (ctx->regs.cs & 3) {
		sample_event_regs(ctx, &s->w);
		/* Keeps clang from sharing loads with other registers: the verifier refuses a moved context pointer. */
		barrier();
		return sample_take(s, true);
	}
	sample_walk_kernel(ctx, s);
	return sample_take(s, sample_entry_regs(bpf_get_current_task_btf(), &s->w));
}

#endif
