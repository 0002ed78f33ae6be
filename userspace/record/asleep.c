// SPDX-License-Identifier: Apache-2.0
#include "asleep.h"

#include "before.h"
#include "deferred.h"
#include "owners.h"
#include "stacks.h"
#include "hotspot/hotspot.h"
#include "jvm/layouts.h"
#include "jvm/jvm_emit.h"
#include "jvm/offcpu_events.h"
#include "jvm/offcpu_names.h"
#include "jvm/vthreads.h"
#include "kernel/kernel_side.h"
#include "proc/procfs.h"
#include "process/processes.h"
#include "process/spans.h"
#include "util/compare.h"
#include "util/log.h"
#include "util/vec.h"

#include <braid/frame.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Nobody wants to wait longer for the end of a recording. */
#define TIME_MAX_NS 200000000ULL   /* for stacks */
#define OWNERS_MAX_NS 500000000ULL /* for what Java threads wait for */

#define STACK_BYTES (BRAID_DEFERRED_PAGES * BRAID_DEFERRED_PAGE)

/* As the kernel side sends it: the kernel's frames, and then the copied stack. */
struct copy {
	struct braid_event_deferred event;
	uint64_t kernel[BRAID_MAX_KERNEL_DEPTH];
	uint8_t room[STACK_BYTES];
};

struct asleep_walk {
	struct copy copy;
	struct deferred_sample sample;
};

struct sleeper {
	struct braid_asleep_call call;
	struct waiter wait;
};

struct asleep {
	struct session *session;
	VEC(struct sleeper) threads; /* sorted by process and tid */
	struct asleep_walk walk;
	struct owners owners;
	uint64_t spent_ns;
	uint64_t left_out; /* when the time was spent */
	int err;
};

static void add(void *ctx, const void *thread)
{
	struct asleep *a = ctx;
	struct sleeper s = {.call = *(const struct braid_asleep_call *)thread};

	s.wait.tid = s.call.asleep.tid;
	s.wait.exec_ns = s.call.asleep.exec_ns;
	s.wait.in_futex = BRAID_OFFCPU_CLASS(s.call.asleep.flags) == BRAID_OFFCPU_FUTEX;
	if (!a->err)
		a->err = VEC_PUSH(&a->threads, s);
}

static int compare(const void *x, const void *y)
{
	const struct braid_asleep *p = &((const struct sleeper *)x)->call.asleep;
	const struct braid_asleep *q = &((const struct sleeper *)y)->call.asleep;

	return compare_u64(p->pid, q->pid) ?: compare_u64(p->tid, q->tid);
}

/* ---- what Java threads wait for ---- */

static struct waiter *waiter_at(void *ctx, size_t i)
{
	const struct asleep *a = ctx;

	return &a->threads.at[i].wait;
}

static void find_java_thread(struct asleep *a, struct sleeper *s)
{
	const struct braid_asleep *regs = &s->call.asleep;
	uint64_t time_ns = a->session->jvms.stopped_ns;
	struct process *p = s->wait.in_futex ? processes_find(a->session->processes, (pid_t)regs->pid, time_ns) : NULL;
	const struct thread *t =
		p && p->jvm && !p->ended_ns ? threads_at(a->session->threads, p, (pid_t)regs->tid, time_ns) : NULL;

	if (!t || !t->java_runs || !t->java_thread)
		return;
	layouts_find(&a->session->jvms, p);
	s->wait.process = p;
	s->wait.java_thread = t->java_thread;
}

static void find_owners(struct asleep *a)
{
	for (size_t i = 0; i < a->threads.count; i++)
		find_java_thread(a, &a->threads.at[i]);
	owners_find(&a->owners, &(struct waiters){.at = waiter_at, .ctx = a, .count = a->threads.count}, OWNERS_MAX_NS);
}

static int asleep_new(struct asleep **out, struct session *s)
{
	struct asleep *a = *out = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->session = a->owners.session = s;
	/* Without an iterator these threads have no stacks, and the trace shows that. */
	(void)kernel_side_each_asleep(s->kernel, add, a);
	VEC_SORT(&a->threads, compare);
	find_owners(a);
	return a->err;
}

static void asleep_free(struct asleep *a)
{
	if (!a)
		return;
	if (a->left_out)
		sink_notice(&a->session->sink, 0, BRAID_NOTICE_INFO,
			    "%llu threads that were off the CPU at the end have no stack: reading them took too long",
			    (unsigned long long)a->left_out);
	owners_say_missing(&a->owners);
	owners_clear(&a->owners);
	free(a->threads.at);
	free(a);
}

int asleep_walk_new(struct asleep_walk **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

/* The copied stack follows the kernel's frames. */
static uint8_t *stack_of(struct copy *c)
{
	return (uint8_t *)(c->kernel + c->event.kernel_count);
}

/* Copies the stack from the page of sp on, as far as it is in memory. */
static void copy_stack(struct copy *c, pid_t pid, uint64_t sp)
{
	struct braid_event_deferred *e = &c->event;

	e->stack_at = sp & ~(uint64_t)(BRAID_DEFERRED_PAGE - 1);
	e->stack_bytes = 0;
	while (e->stack_bytes < STACK_BYTES && !hotspot_read_process(&pid, e->stack_at + e->stack_bytes,
								     stack_of(c) + e->stack_bytes, BRAID_DEFERRED_PAGE))
		e->stack_bytes += BRAID_DEFERRED_PAGE;
}

/* Puts the original return addresses into the copy. */
static void restore_returns(struct copy *c, const struct braid_asleep *thread)
{
	for (int i = 0; i < BRAID_ASLEEP_RETURNS && thread->returns[i].at; i++) {
		uint64_t offset = thread->returns[i].at - c->event.stack_at;
		uint8_t *word = stack_of(c) + offset % STACK_BYTES;

		if (!(offset & 7) && offset < c->event.stack_bytes &&
		    !memcmp(word, &thread->trampoline, sizeof(thread->trampoline)))
			memcpy(word, &thread->returns[i].to, sizeof(thread->returns[i].to));
	}
}

bool asleep_has_run(const struct braid_asleep *thread)
{
	uint64_t cpu_ns, kernel_ns;

	return procfs_cpu_ns((pid_t)thread->pid, (pid_t)thread->tid, &cpu_ns, &kernel_ns) || cpu_ns != thread->exec_ns;
}

struct asleep_stack asleep_walk(struct session *s, struct asleep_walk *w, struct process *process,
				const struct asleep_thread *t)
{
	const struct braid_asleep *regs = t->regs;
	struct asleep_stack out = {0};
	bool complete;

	w->copy.event = (struct braid_event_deferred){.hdr = {.time_ns = t->time_ns},
						      .pid = regs->pid,
						      .tid = regs->tid,
						      .cause = BRAID_END_READ_FAULT,
						      .pc = regs->pc,
						      .sp = regs->sp,
						      .fp = regs->fp,
						      .rax = regs->rax,
						      .rbx = regs->rbx,
						      .r10 = regs->r10,
						      .r13 = regs->r13,
						      .kernel_count = t->kernel_count};
	if (t->kernel_count)
		memcpy(w->copy.kernel, t->kernel, t->kernel_count * sizeof(*t->kernel));
	copy_stack(&w->copy, process->pid, regs->sp);
	restore_returns(&w->copy, regs);
	layouts_find(&s->jvms, process);
	w->sample.event = (struct braid_event_sample){0};
	(void)deferred_unwind(s, process, &w->copy.event, true, &w->sample);
	out.is_virtual = w->sample.virtual;
	if (t->wants_span && !out.is_virtual)
		out.known.span = spans_of_thread(s->spans, process, regs->thread_pointer);
	if (asleep_has_run(regs))
		return (struct asleep_stack){0};
	out.known.node = stacks_node(s->stacks, process, &w->sample.event, &complete);
	return out;
}

void asleep_name(struct session *s, struct process *process, const struct braid_asleep_call *call,
		 struct asleep_known *known)
{
	known->object = offcpu_object(&s->jvms, process, call->object, call->text);
	known->number = call->number;
	known->class = call->class;
}

/* What the thread waits for, which is true if it has not run since. */
static void take_wait(const struct asleep *a, struct process *process, const struct sleeper *t,
		      struct asleep_known *known)
{
	const struct waiter *w = &t->wait;

	asleep_name(a->session, process, &t->call, known);
	if (w->how == WAIT_FOR_NOTHING || !procfs_sleeps(process->pid, (pid_t)w->tid) ||
	    asleep_has_run(&t->call.asleep))
		return;
	known->object = w->class;
	known->looked = w->owned || !(w->owner || w->owner_number);
	known->is_lock = w->is_lock && jvm_events_enabled(&a->session->jvms, process) & BRAID_EVENT_TYPE(LOCK);
	known->is_parked = w->how == WAIT_FOR_BLOCKER;
	if (!w->owned || !w->is_lock)
		return;
	known->owner = w->owner;
	known->owner_vthread = vthreads_id(a->session->vthreads, process, w->owner_number);
}

/* Its stack, if it has one: what was read while the recording went on, or is read now. */
static struct asleep_known stack_of_sleeper(struct asleep *a, struct process *process, const struct sleeper *t)
{
	const struct braid_asleep *regs = &t->call.asleep;
	struct asleep_known known = {0};
	uint64_t began = now_ns();

	if (regs->flags & BRAID_OFFCPU_BEFORE)
		known = before_known(a->session->before, process, regs->tid);
	if (known.node)
		return known;
	if (a->spent_ns > TIME_MAX_NS) {
		a->left_out++;
		return known;
	}
	known = asleep_walk(a->session, &a->walk, process,
			    &(struct asleep_thread){
				    .regs = regs, .time_ns = a->session->jvms.stopped_ns, .wants_span = true})
			.known;
	a->spent_ns += now_ns() - began;
	return known;
}

/* `ctx` is the struct asleep, or NULL. */
static struct asleep_known asleep_of(void *ctx, struct process *process, uint32_t tid)
{
	struct asleep *a = ctx;
	const struct sleeper key = {.call.asleep = {.pid = (uint32_t)process->pid, .tid = tid}}, *thread;
	struct asleep_known known;

	thread = a && a->threads.count ? bsearch(&key, a->threads.at, a->threads.count, sizeof(key), compare) : NULL;
	if (!thread)
		return (struct asleep_known){0};
	known = stack_of_sleeper(a, process, thread);
	take_wait(a, process, thread, &known);
	return known;
}

void asleep_finish(struct session *s)
{
	struct asleep *asleep;

	if (asleep_new(&asleep, s))
		log_warning("out of memory: some threads that were off the CPU at the end have no stack");
	offcpu_finish(&s->jvms, asleep_of, asleep);
	asleep_free(asleep);
}
