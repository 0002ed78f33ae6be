// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* CPU sampling: at every tick of a perf event, the whole stack of what runs, leaf first. */
#ifndef BRAID_SAMPLE_BPF_H
#define BRAID_SAMPLE_BPF_H

#include "maps.bpf.h"

#include <braid/walk.h>

/* Set before loading. */
const volatile bool system_wide;		  /* record processes that are not in `processes`, too */
const volatile __u32 max_depth = BRAID_MAX_DEPTH; /* user frames per stack */

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
	union {
		__u64 pc;
		__u64 bcp; /* interpreted */
	};
	union {
		__u64 fp_at; /* where caller_fp was read, or 0: fp was left alone */
		__u64 word;  /* interpreted: the frame's */
	};
};
_Static_assert(sizeof(struct sample_memo) == 64, "a cache line");

#define MEMO_ENTRIES 1024
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MEMO_ENTRIES);
	__type(key, __u32);
	__type(value, struct sample_memo);
} memos SEC(".maps");

/* One sample in the making; `w` comes first, so that a pointer to it is one to the whole. */
struct sample {
	struct braid_walk w;
	__u64 hash;
	__u32 depth; /* frames so far */
	__u32 first_mapping;
	__u32 mapping_count;
	__u32 epoch; /* of the JVM */
	__u32 tgid;
	__u64 owner;		   /* of memos: process and epoch */
	struct braid_mapping last; /* the mapping found before: a caller is mostly in the same one */
	struct braid_event_sample event;
	__u64 frames[BRAID_MAX_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct sample);
} samples SEC(".maps");

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

WALK_INLINE long walk_read(struct braid_walk *w, void *to, __u32 size, __u64 address)
{
	(void)w;
	return bpf_probe_read_user(to, size, (const void *)address);
}

static __always_inline __u64 sample_mix(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL; /* 2^64 / golden ratio */
	return hash ^ hash >> 29;
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

static __noinline bool walk_mapping(struct braid_walk *w, __u64 pc, struct braid_mapping *m)
{
	struct sample *s = (struct sample *)w;
	__u32 low = s->first_mapping, high = s->first_mapping + s->mapping_count;

	if (pc >= s->last.start && pc < s->last.end) {
		*m = s->last;
		return true;
	}
	for (int i = 0; i < MAPPING_STEPS && low < high; i++) {
		__u32 middle = (low + high) / 2;
		struct braid_mapping *at = bpf_map_lookup_elem(&mappings, &middle);

		if (!at)
			return false;
		if (pc < at->start) {
			high = middle;
		} else if (pc >= at->end) {
			low = middle + 1;
		} else {
			*m = s->last = *at;
			return true;
		}
	}
	return false;
}

static __noinline __u32 walk_rule(struct braid_walk *w, const struct braid_mapping *m, __u64 vaddr)
{
	__u32 key = m->table, low, high, base;
	struct braid_table *t = bpf_map_lookup_elem(&tables, &key);
	struct braid_unwind_row *row;
	struct braid_page *p;
	__u64 page;

	(void)w;
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

/* Is the caller that `m` remembers still the caller? Its return address is right below its stack pointer. */
static __always_inline bool memo_holds(struct braid_walk *w, const struct sample_memo *m)
{
	__u64 f[2];

	if (m->pc != w->pc || walk_read(w, f, sizeof(f), m->caller_sp - 16) || f[1] != m->caller_pc)
		return false;
	if (!m->fp_at)
		return true;
	if (m->fp_at != m->caller_sp - 16 && walk_read(w, f, 8, m->fp_at))
		return false;
	return f[0] == m->caller_fp;
}

/* The same for an interpreted frame, all of whose words lie around its fp. */
static __always_inline bool memo_holds_interpreted(struct braid_walk *w, const struct braid_layout *l,
						   const struct sample_memo *m)
{
	enum { FP = 8, METHOD = FP - 3, SENDER_SP = FP - 1 };
	__u64 f[FP + 2], bcp;

	if (!l || !walk_in_interpreter(l, w->pc) || walk_read(w, f, sizeof(f), w->fp - 8 * FP))
		return false;
	bcp = l->interp_bcp == -FP ? f[0] : f[1];
	return bcp == m->bcp && f[METHOD] == braid_frame_method(m->word) && f[SENDER_SP] == m->caller_sp &&
	       f[FP] == m->caller_fp && f[FP + 1] == m->caller_pc;
}

/* Goes to the caller by the memo: false when there is none that holds. */
static __noinline bool memo_step(struct sample *s, const struct braid_layout *l, const struct sample_memo *m)
{
	struct braid_walk *w = &s->w;
	__u32 kind = m->owner & 3;

	if (m->sp != w->sp || m->fp != w->fp || (m->owner & ~3ULL) != s->owner)
		return false;
	if (kind == MEMO_INTERPRETED) {
		if (!memo_holds_interpreted(w, l, m))
			return false;
		walk_push(w, m->word);
		w->interpreted++;
	} else {
		if (!memo_holds(w, m))
			return false;
		walk_push(w, (kind == MEMO_CODE ? (__u64)BRAID_FRAME_CODE_CACHE << 60 : 0) |
				     (w->pc & BRAID_FRAME_ADDR_MASK));
	}
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
	__u64 pc, sp, fp;
	__u32 java, interpreted;
};

static __always_inline void memo_store(const struct sample *s, struct sample_memo *m, const struct sample_from *from)
{
	const struct braid_walk *w = &s->w;
	__u32 last = s->depth - 1;

	if (w->interpreted != from->interpreted) {
		if (last >= BRAID_MAX_FRAMES)
			return;
		m->owner = s->owner | MEMO_INTERPRETED;
		m->bcp = w->bcp;
		m->word = s->frames[last];
	} else if (w->fp_at != WALK_FP_ELSEWHERE) {
		m->owner = s->owner | (w->java != from->java ? MEMO_CODE : MEMO_NATIVE);
		m->pc = from->pc;
		m->fp_at = w->fp_at;
	} else {
		return;
	}
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
	struct sample_from from = {
		.pc = w->pc, .sp = w->sp, .fp = w->fp, .java = w->java, .interpreted = w->interpreted};
	__u32 leaf = w->leaf, key = (w->sp >> 3 ^ w->sp >> 13) % MEMO_ENTRIES;
	struct sample_memo *m;

	(void)i;
	m = bpf_map_lookup_elem(&memos, &key);
	if (!m)
		return 1;
	if (!leaf && memo_step(s, step->layout, m))
		return 0;
	if (walk_step(w, step->layout))
		return 1;
	if (!leaf)
		memo_store(s, m, &from);
	return 0;
}

/* The user registers, from the event itself or from where the kernel was entered: false when there are none. */
static __always_inline bool sample_user_regs(struct bpf_perf_event_data *ctx, struct task_struct *task,
					     struct braid_walk *w)
{
	struct pt_regs *entry;

	if (ctx->regs.cs & 3) {
		w->pc = ctx->regs.ip;
		w->sp = ctx->regs.sp;
		w->fp = ctx->regs.bp;
		w->rax = ctx->regs.ax;
		w->rbx = ctx->regs.bx;
		w->r10 = ctx->regs.r10;
		w->r13 = ctx->regs.r13;
		/* Keeps clang from sharing the loads with those below: the verifier refuses a moved context pointer. */
		barrier();
		return true;
	}
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

static __always_inline void sample_walk_user(struct sample *s, const struct braid_process *p)
{
	struct sample_step step = {.s = s};
	struct braid_jvm *jvm;
	__u32 slot;

	s->w.leaf = 1;
	s->w.end = WALK_GOING;
	s->w.blob_low = s->w.blob_high = 0;
	if (!p) {
		walk_push(&s->w, BRAID_FRAME_EXACT | (s->w.pc & BRAID_FRAME_ADDR_MASK));
		s->w.native++;
		s->w.end = BRAID_END_NO_PROCESS;
		return;
	}
	s->last.start = s->last.end = 0;
	s->first_mapping = p->first_mapping;
	s->mapping_count = p->mapping_count;
	if (p->jvm) {
		slot = p->jvm - 1;
		jvm = bpf_map_lookup_elem(&jvms, &slot);
		if (jvm) {
			step.layout = &jvm->layout;
			s->epoch = jvm->epoch;
		}
	}
	s->owner = (__u64)s->tgid << 32 | (s->epoch << 2 & 0xffffffffU);
	bpf_loop(max_depth, sample_step, &step, 0);
	if (s->w.end == WALK_GOING)
		s->w.end = BRAID_END_DEPTH;
}

/* The kernel's part of the stack; a sample in user mode has none. */
static __always_inline void sample_walk_kernel(struct bpf_perf_event_data *ctx, struct sample *s)
{
	long bytes = bpf_get_stack(ctx, s->frames, BRAID_MAX_KERNEL_DEPTH * 8, 0);

	s->depth = bytes > 0 ? (__u32)bytes / 8 : 0;
	for (__u32 i = 0; i < BRAID_MAX_KERNEL_DEPTH && i < s->depth; i++)
		s->hash = sample_mix(s->hash, s->frames[i]);
}

/* Sends the sample, with its frames when they are news. */
static __always_inline void sample_send(struct sample *s, struct braid_counters *c, __u64 now)
{
	struct braid_event_sample *e = &s->event;
	__u64 id = bpf_get_current_pid_tgid(), *sent;
	__u32 slot = (__u32)(s->hash >> 20) % SENT_STACKS, frames = s->depth;

	if (frames > BRAID_MAX_FRAMES)
		frames = BRAID_MAX_FRAMES;
	sent = bpf_map_lookup_elem(&sent_stacks, &slot);
	if (sent && *sent == s->hash)
		frames = 0;
	e->hdr.kind = BRAID_EVENT_SAMPLE;
	e->hdr.size = sizeof(*e) + frames * 8;
	e->hdr.time_ns = now;
	e->pid = id >> 32;
	e->tid = (__u32)id;
	e->cpu = bpf_get_smp_processor_id();
	e->frame_count = frames;
	e->stack = s->hash;
	if (bpf_ringbuf_output(&events, e, sizeof(*e) + frames * 8, BPF_RB_NO_WAKEUP)) {
		c->samples_lost++;
		return;
	}
	if (frames && sent)
		*sent = s->hash;
	c->stacks_sent += frames != 0;
}

SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 zero = 0, tgid = bpf_get_current_pid_tgid() >> 32;
	struct task_struct *task = bpf_get_current_task_btf();
	struct braid_counters *c = counters_get();
	struct braid_process *p;
	struct sample *s;

	if (!c || task->pid == 0) /* the idle task */
		return 0;
	p = bpf_map_lookup_elem(&processes, &tgid);
	if (!p && !system_wide)
		return 0;
	s = bpf_map_lookup_elem(&samples, &zero);
	if (!s)
		return 0;
	s->tgid = tgid;
	s->hash = (__u64)tgid << 32 | 1;
	s->depth = s->epoch = s->w.java = s->w.native = s->w.interpreted = 0;
	if (!(ctx->regs.cs & 3))
		sample_walk_kernel(ctx, s);
	c->frames_kernel += s->depth;
	if (sample_user_regs(ctx, task, &s->w)) {
		sample_walk_user(s, p);
		if (s->w.end)
			walk_push(&s->w, (__u64)BRAID_FRAME_END << 60 | s->w.end);
		if (s->w.java) /* code and methods may be unloaded, and their addresses reused */
			s->hash = sample_mix(s->hash, s->epoch);
	}
	c->samples++;
	c->frames_java += s->w.java;
	c->frames_native += s->w.native;
	sample_send(s, c, now);
	c->walk_ns += bpf_ktime_get_ns() - now;
	return 0;
}

#endif
