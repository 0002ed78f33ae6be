// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Takes whole stacks, leaf first, in programs of any type: walks, hashes and sends them. */
#ifndef BRAID_STACK_BPF_H
#define BRAID_STACK_BPF_H

#include "kernel_read.bpf.h"
#include "names.bpf.h"
#include "returns.bpf.h"
#include "reuse.bpf.h"
#include "span.bpf.h"
#include "vthread.bpf.h"

#include <braid/statics.h>

/* Set before loading. */
const volatile bool system_wide;		  /* also record processes that are not in `processes` */
const volatile __u32 max_depth = BRAID_MAX_DEPTH; /* user frames per stack */

/*
 * Stacks that the collector has received: slot hash % size contains the hash. Two stacks that share a slot are only
 * sent more often, so it needs no lock. The collector clears it when it forgets stacks.
 */
#define SENT_STACKS (1 << 17)
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, SENT_STACKS);
	__type(key, __u32);
	__type(value, __u64);
} sent_stacks SEC(".maps");

static __always_inline __u32 stack_sent_slot(__u64 hash)
{
	return (__u32)(hash >> 20) % SENT_STACKS;
}

/* The collector has the stack, as far as the slot is not another one's. */
static __always_inline bool stack_is_sent(__u64 hash)
{
	__u32 slot = stack_sent_slot(hash);
	const __u64 *sent = bpf_map_lookup_elem(&sent_stacks, &slot);

	return sent && *sent == hash;
}

/* The argument of a step. */
struct stack_step {
	struct sample *s;
	const struct braid_layout *layout;
};

WALK_INLINE __u64 walk_java_thread(struct braid_walk *w)
{
	return java_thread_own((__u32)w->jvm);
}

WALK_INLINE void walk_push(struct braid_walk *w, __u64 frame)
{
	struct sample *s = slot_at(w->slot);

	if (s)
		stack_push(s, frame);
}

static long stack_step(__u32 i, void *ctx)
{
	struct stack_step *step = ctx;
	struct sample *s = step->s;
	struct braid_walk *w = &s->w;
	bool plain = !w->leaf && !w->frozen_end;
	struct sample_memo *m = memo_at(s);

	(void)i;
	if (!m)
		return 1;
	s->from = (struct sample_from){
		.pc = w->pc, .sp = w->sp, .fp = w->fp, .java = w->java, .interpreted = w->interpreted, .leaf = w->leaf};
	if (step->layout && w->pc == step->layout->call_stub_return)
		s->stub_fp = w->fp;
	if (!plain || !memo_step(s, step->layout, m)) {
		if (walk_step(w, step->layout)) {
			if (s->reuse)
				reuse_root(s);
			return 1;
		}
		if (plain)
			memo_store(s, m);
	}
	if (s->reuse)
		reuse_step(s, step->layout);
	if (walk_is_trampoline(w, w->pc)) {
		w->pc = returns_original(w->pc, w->sp - 8);
		s->reuse = 0; /* the words are the same for all callers */
	}
	return 0;
}

#define INT3 0xcc

/* The return address at `at`; 0: the word there can be none. */
static __noinline __u64 stack_caller(__u64 at)
{
	__u8 code[WALK_CALL_BYTES];
	__u64 pc;

	if (bpf_probe_read_user(&pc, sizeof(pc), (const void *)at))
		return 0;
	pc = returns_original(pc, at);
	if (bpf_probe_read_user(code, sizeof(code), (const void *)(pc - sizeof(code))) || !walk_is_call(code))
		return 0;
	return pc;
}

/*
 * Takes a thread that is in the trampoline for being behind the call. Since Linux 6.11 the trampoline pushes three
 * registers and makes a system call, which removes the return from the list and puts its address in place of the
 * first. Before, and on older kernels, it is a breakpoint.
 */
static __always_inline bool stack_leave_trampoline(struct braid_walk *w)
{
	enum { PUSHES = 3, AFTER_CALL = 13 };
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 offset = w->pc - returns_trampoline(task), sp = w->sp, pc = 0;
	struct return_instance *r = returns_pending(task);

	if (offset >= XOL_SLOT_BYTES)
		return false;
	if (r && (offset < AFTER_CALL || (offset == AFTER_CALL && r->stack == sp + 8 * (PUSHES - 1)))) {
		sp = r->stack + 8;
		pc = r->orig_ret_vaddr;
	}
	for (int i = 0; i < PUSHES && !pc; i++, sp += 8)
		pc = stack_caller(sp);
	if (pc) {
		w->pc = pc;
		w->sp = sp;
	}
	return true;
}

/*
 * Corrects the pc of a thread at a probe (uprobe) to the probed instruction. Until the kernel has found the probe, the
 * pc is after the breakpoint. Then the thread steps a copy of the instruction, unless the kernel emulates it. Among the
 * emulated ones only a function's first push matters: it changes pc and sp one after the other, and only the return
 * address shows how far it is. `plain`: the kernel was entered without a system call or an error code, so by a
 * breakpoint or an interrupt.
 */
__noinline int stack_leave_probe(__u32 slot, bool plain)
{
	struct uprobe_task *step = bpf_get_current_task_btf()->utask;
	struct sample *s = slot_at(slot);
	__u8 code[2];
	__u64 at;

	if (!s || (step && stack_leave_trampoline(&s->w)))
		return 0;
	if (step && step->state != UTASK_RUNNING && s->w.pc - step->xol_vaddr < XOL_SLOT_BYTES) {
		s->w.pc = step->vaddr + (s->w.pc - step->xol_vaddr);
		return 0;
	}
	if (!plain || bpf_probe_read_user(code, sizeof(code), (const void *)(s->w.pc - 1)) ||
	    (code[0] != INT3 && code[1] != INT3))
		return 0;
	at = code[1] == INT3 ? s->w.pc : s->w.pc - 1;
	if (stack_caller(s->w.sp))
		s->w.pc = at;
	else if (stack_caller(s->w.sp + 8))
		s->w.pc = at + 1;
	return 0;
}

/*
 * True for what only works in the kernel. Workers of io_uring and vhost are threads of a process, and have the
 * registers of the one that made them.
 */
static __always_inline bool task_stays_in_kernel(const struct task_struct *task)
{
	return task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER);
}

/* An ending thread has none any more. */
static __always_inline bool task_has_user_stack(const struct task_struct *task)
{
	return TASK_POINTER(task, mm) && !task_stays_in_kernel(task);
}

/* Takes the user registers of the kernel's entry; false when there are none. */
static __always_inline bool stack_entry_regs(struct task_struct *task, struct braid_walk *w)
{
	struct pt_regs *entry;

	if (!task_has_user_stack(task))
		return false;
	entry = (struct pt_regs *)bpf_task_pt_regs(task);
	w->pc = entry->ip;
	w->sp = entry->sp;
	w->fp = entry->bp;
	w->rax = entry->ax;
	w->rbx = entry->bx;
	w->r10 = entry->r10;
	w->r13 = entry->r13;
	stack_leave_probe(w->slot, entry->orig_ax == -1UL);
	return true;
}

/* True in do_execveat_common(), where the kernel exposes that. */
static __always_inline bool task_in_execve(struct task_struct *task)
{
	return bpf_core_field_exists(task->in_execve) && BPF_CORE_READ_BITFIELD_PROBED(task, in_execve);
}

/*
 * True while code is being unloaded: other code may be at the address of a memo's frame, below the same words of the
 * stack. The epoch changes too late for that, because the JVM reports unloaded code when it has time.
 */
#define CODE_SETTLES_NS 1000000000ULL

static __always_inline bool stack_code_moves(struct braid_jvm *jvm, __u64 unloads, __u64 now)
{
	if (unloads != jvm->code_unloads_seen) {
		jvm->code_unloads_seen = unloads;
		jvm->code_unload_ns = now;
	}
	/* Another CPU may have noted it after this sample began. */
	return jvm->code_unload_ns && now < jvm->code_unload_ns + CODE_SETTLES_NS;
}

/* Whether the addresses of the JVM's code and methods mean what they meant at the walk. */
static __always_inline bool stack_same_code(const struct stack_reuse *r)
{
	__u32 slot = r->jvm - 1;
	struct braid_jvm *jvm = bpf_map_lookup_elem(&jvms, &slot);
	__u64 unloads;

	if (!jvm)
		return false;
	unloads = names_count(jvm->code_unloads);
	return names_epoch(jvm, unloads) == r->epoch && !stack_code_moves(jvm, unloads, bpf_ktime_get_ns());
}

static __always_inline long statics_read(void *ctx, void *to, __u32 size, __u64 address)
{
	(void)ctx;
	return bpf_probe_read_user(to, size, (const void *)address);
}

/*
 * While a JVM starts it creates its code heaps and their contents, and their first code runs before any report
 * of it can arrive. Walks on several CPUs may write the same values.
 */
__noinline int stack_layout_grow(struct braid_layout *l, const struct braid_statics *v)
{
	if (!l || !v)
		return 0;
	statics_heaps(NULL, v, l);
	statics_interpreter(NULL, v, l);
	return 0;
}

/*
 * The verifier keeps a table with a row for each instruction. When it inserts some, after the check, the table grows,
 * and is copied for each further page (Linux 6.16; before, for each insertion). Instructions that are never executed
 * have been removed by then, and leave their rows.
 */
const volatile bool verifier_room = false;
#define VERIFIER_ROOM ".rept 1024\n r0 = 0\n .endr"

static __always_inline void leave_verifier_room(void)
{
	if (verifier_room)
		asm volatile(VERIFIER_ROOM : : : "r0");
}

static __always_inline void stack_walk_user(struct sample *s)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct stack_step step = {.s = s};
	struct braid_jvm *jvm;
	__u64 unloads;
	__u32 slot;

	leave_verifier_room();
	s->kernel_depth = s->depth;
	s->kernel_hash = s->hash;
	s->w.leaf = 1;
	s->w.end = WALK_GOING;
	s->w.blob_low = s->w.blob_high = s->w.code_pc = 0;
	s->w.entry = s->w.frozen_end = s->w.yielded = 0;
	s->w.trampoline = returns_pending(task) ? returns_trampoline(task) : 0;
	s->window_bytes = s->stub_fp = 0;
	if (!s->known) {
		stack_push(s, BRAID_FRAME_EXACT | (s->w.pc & BRAID_FRAME_ADDR_MASK));
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
			if (jvm->layout.flags & BRAID_LAYOUT_GROWING)
				stack_layout_grow(&jvm->layout, &jvm->statics);
			unloads = names_count(jvm->code_unloads);
			s->epoch = names_epoch(jvm, unloads);
			s->code_moves = stack_code_moves(jvm, unloads, s->event.hdr.time_ns);
			s->w.jvm = java_thread_jvm(slot, jvm->generation);
		}
	}
	s->owner = (__u64)s->tgid << 32 | ((s->epoch ^ s->generation << 16) << 2 & 0xffffffffU);
	bpf_loop(max_depth, stack_step, &step, 0);
	if (s->w.end == WALK_GOING)
		s->w.end = BRAID_END_DEPTH;
	if (vthread_possible(s, step.layout)) {
		s->reuse = 0; /* the same frames may be another one's */
		s->event.vthread = vthread_identify(s, step.layout);
	}
	if (s->mounted) {
		s->event.vthread = s->mounted;
		s->carries = 1;
	}
	if (s->process.context.module || s->process.context.table)
		s->event.span = span_take(s->w.slot);
}

/* The same as stack_walk_kernel(), without the innermost frames. */
static __always_inline void stack_walk_kernel_from(void *ctx, struct sample *s, __u64 skip)
{
	long bytes = bpf_get_stack(ctx, s->frames, BRAID_MAX_KERNEL_DEPTH * 8, skip);

	s->depth = bytes > 0 ? (__u32)bytes / 8 : 0;
	for (__u32 i = 0; i < BRAID_MAX_KERNEL_DEPTH && i < s->depth; i++)
		s->hash = braid_mix(s->hash, s->frames[i]);
}

/* Takes the kernel's part of the stack; a sample in user mode has none. `ctx` is the program's own context. */
static __always_inline void stack_walk_kernel(void *ctx, struct sample *s)
{
	stack_walk_kernel_from(ctx, s, 0);
}

/* `p` is the current process's entry, if it has one. */
static __always_inline void stack_reset(struct sample *s, const struct braid_process *p, __u64 now)
{
	struct braid_event_sample *e = &s->event;
	__u64 id = bpf_get_current_pid_tgid();

	s->tgid = id >> 32;
	s->known = p != NULL;
	if (p)
		s->process = *p;
	s->generation = p ? p->generation : 0;
	s->hash = braid_mix((__u64)s->tgid << 32 | 1, s->generation);
	s->depth = s->epoch = s->w.java = s->w.native = s->w.interpreted = 0;
	s->carries = s->span_bytes = s->reuse = 0;
	s->mounted = 0;
	e->hdr.time_ns = now;
	e->pid = id >> 32;
	e->tid = (__u32)id;
	e->cpu = bpf_get_smp_processor_id();
	e->generation = s->generation;
	e->vthread = e->span = 0;
	e->event = 0;
}

/* Between its old memory and its new registers, a thread in an exec has no user stack. */
static __always_inline bool stack_in_execve(struct sample *s, struct task_struct *task)
{
	if (!s->w.end || !s->kernel_depth || !task_in_execve(task))
		return false;
	s->depth = s->kernel_depth;
	s->hash = s->kernel_hash;
	s->generation = s->event.generation = 0; /* which of the two address spaces it is does not matter */
	s->w.end = s->w.java = s->w.native = s->w.interpreted = 0;
	s->event.span = 0;
	return true;
}

/* Completes the stack. */
static __always_inline void stack_close(struct sample *s)
{
	if (s->w.end)
		stack_push(s, (__u64)BRAID_FRAME_END << 60 | s->w.end);
	if (s->w.java) /* code and methods may be unloaded, and their addresses reused */
		s->hash = braid_mix(s->hash, s->epoch);
}

/*
 * Sends the sample, with its frames if they are new; a BRAID_EVENT_STACK only if they are. Returns 1: with frames, 0:
 * without, -1: no room.
 */
static __always_inline int stack_send(struct sample *s, __u32 kind)
{
	struct braid_event_sample *e = &s->event;
	__u64 *sent;
	__u32 slot = stack_sent_slot(s->hash), frames = s->depth;

	if (frames > BRAID_MAX_FRAMES)
		frames = BRAID_MAX_FRAMES;
	sent = bpf_map_lookup_elem(&sent_stacks, &slot);
	if (sent && *sent == s->hash && !(s->w.interpreted && (s->epoch & NAMES_UNSURE)))
		frames = 0;
	if (!frames && kind == BRAID_EVENT_STACK)
		return 0;
	if (frames && s->w.interpreted && !names_send(s->w.slot, frames))
		return -1;
	e->hdr.kind = kind;
	e->hdr.size = sizeof(*e) + frames * 8;
	e->frame_count = frames;
	e->stack = s->hash;
	if (bpf_ringbuf_output(&events, e, sizeof(*e) + frames * 8, events_wake()))
		return -1;
	/* Without a known address space the hash does not identify the stack. */
	if (frames && sent && s->generation)
		*sent = s->hash;
	return frames != 0;
}

/*
 * Takes the current thread's stack from one of the entries of reuse_key() if it is still that stack. `p` is the
 * process's entry. Returns STACK_REUSED, or the entry that may note the walk, 0 when there is none.
 */
#define STACK_REUSED (~0U)

static __noinline __u32 stack_reuse(const struct braid_process *p, struct task_struct *task, struct pt_regs *entry,
				    __u32 entries, struct braid_stack_ref *ref)
{
	__u32 key = reuse_choose(entries, task, entry);
	const struct stack_reuse *r = reuse_at(key);

	if (!key || !r || !p || !ref || p->context.module || p->context.table)
		return 0;
	if (!reuse_is_here(r, task, entry) || r->tgid != (__u32)task->tgid || r->ref.generation != p->generation ||
	    r->jvm != p->jvm)
		return key;
	if (!stack_is_sent(r->ref.stack) || (r->java && !stack_same_code(r)) ||
	    !reuse_same_words(r, reuse_kind_of(key)))
		return key;
	*ref = r->ref;
	return STACK_REUSED;
}

#define WALK_TIMED 16 /* one walk in this number is timed */

#define STACK_NEAR 16 /* frames near the leaf, mostly the VM's own */

/* The frame that called the stub through which the VM was entered: the second one in the code cache. */
static __always_inline __u64 stack_java(const struct sample *s)
{
	__u32 found = 0;

	for (__u32 i = 0; i < STACK_NEAR && i < s->depth; i++)
		if (braid_frame_kind(s->frames[i]) == BRAID_FRAME_CODE_CACHE && found++)
			return s->frames[i];
	return 0;
}

/*
 * A program of any type, preemptible or not, takes the current thread's stack in these steps: stack_begin(), NULL
 * (and counted) when too many do so at once; optionally stack_walk_kernel(); the user registers, mostly by
 * stack_entry_regs(); and always stack_take(). `p` is the current process's entry in the map `processes`, or NULL.
 */
static __always_inline struct sample *stack_begin(const struct braid_process *p)
{
	struct braid_counters *c = counters_get();
	__u32 slot = slot_take();
	struct sample *s = slot_at(slot);

	if (!s) {
		if (c)
			COUNT(c, stacks_lost, 1);
		return NULL;
	}
	s->w.slot = slot;
	stack_reset(s, p, bpf_ktime_get_ns());
	return s;
}

/* The collector has not yet shown all that the process has mapped. */
static __always_inline bool stack_waits(const struct sample *s)
{
	return s->w.end == BRAID_END_NO_MAPPING || s->w.end == BRAID_END_NO_TABLE || s->w.end == BRAID_END_NO_PROCESS;
}

/*
 * Completes the stack in the slot; without user registers it ends with the kernel's part. It is sent before any event
 * that refers to it. Returns 1 if it ends early and would not a moment later. A global function: the verifier checks
 * the walk once, whatever is known at the calls.
 */
__noinline int stack_take(__u32 slot, bool user, struct braid_stack_ref *ref)
{
	struct braid_counters *c = counters_get();
	struct sample *s = slot_at(slot);
	int sent, early = 0;

	if (!s || !ref)
		return 0;
	if (c) {
		COUNT(c, frames_kernel, s->depth);
		COUNT(c, stacks, 1);
		if (user) {
			stack_walk_user(s);
			(void)stack_in_execve(s, bpf_get_current_task_btf());
			stack_close(s);
			early = stack_waits(s);
		}
		sent = s->depth ? stack_send(s, BRAID_EVENT_STACK) : -1;
		if (sent >= 0) {
			ref->stack = s->hash;
			ref->java = stack_java(s);
			ref->vthread = s->event.vthread;
			ref->span = s->event.span;
			ref->generation = s->generation;
			ref->bytes = (sent ? s->depth * 8 : 0) + s->span_bytes;
			COUNT(c, stacks_sent, (__u64)sent);
			if (s->reuse)
				reuse_end(s, ref);
		} else {
			COUNT(c, stacks_lost, 1);
		}
		COUNT(c, frames_java, s->w.java);
		COUNT(c, frames_native, s->w.native);
		if (c->stacks % WALK_TIMED == 0) /* reading the clock costs a part of the time measured */
			COUNT(c, walk_ns, (bpf_ktime_get_ns() - s->event.hdr.time_ns) * WALK_TIMED);
	}
	slot_release(s);
	return early;
}

#endif
