// SPDX-License-Identifier: Apache-2.0
#include "asleep.h"

#include "before.h"
#include "deferred.h"
#include "stacks.h"
#include "hotspot/hotspot.h"
#include "jvm/layouts.h"
#include "jvm/offcpu_events.h"
#include "kernel/kernel_side.h"
#include "proc/procfs.h"
#include "process/processes.h"
#include "process/spans.h"
#include "util/log.h"
#include "util/vec.h"

#include <braid/frame.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Nobody wants to wait longer for the end of a recording. */
#define TIME_MAX_NS 200000000ULL

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

struct asleep {
	struct session *session;
	VEC(struct braid_asleep) threads; /* sorted by tid */
	struct asleep_walk walk;
	uint64_t spent_ns;
	uint64_t left_out; /* when the time was spent */
	int err;
};

static void add(void *ctx, const void *thread)
{
	struct asleep *a = ctx;

	if (!a->err)
		a->err = VEC_PUSH(&a->threads, *(const struct braid_asleep *)thread);
}

static int compare(const void *x, const void *y)
{
	const struct braid_asleep *p = x, *q = y;

	return (p->tid > q->tid) - (p->tid < q->tid);
}

static int asleep_new(struct asleep **out, struct session *s)
{
	struct asleep *a = *out = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->session = s;
	/* Without an iterator these threads have no stacks, and the trace shows that. */
	(void)kernel_side_each_asleep(s->kernel, add, a);
	VEC_SORT(&a->threads, compare);
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

/* What was read of it while the recording went on. */
static struct asleep_known before_of(const struct asleep *a, const struct process *process,
				     const struct braid_asleep *thread)
{
	if (!(thread->flags & BRAID_OFFCPU_BEFORE))
		return (struct asleep_known){0};
	return before_known(a->session->before, process, thread->tid);
}

/* `ctx` is the struct asleep, or NULL. */
static struct asleep_known asleep_of(void *ctx, struct process *process, uint32_t tid)
{
	struct asleep *a = ctx;
	const struct braid_asleep key = {.tid = tid}, *thread;
	uint64_t began = now_ns();
	struct asleep_known known;

	thread = a && a->threads.count ? bsearch(&key, a->threads.at, a->threads.count, sizeof(key), compare) : NULL;
	if (!thread || (pid_t)thread->pid != process->pid)
		return (struct asleep_known){0};
	known = before_of(a, process, thread);
	if (known.node)
		return known;
	if (a->spent_ns > TIME_MAX_NS) {
		a->left_out++;
		return (struct asleep_known){0};
	}
	known = asleep_walk(a->session, &a->walk, process,
			    &(struct asleep_thread){
				    .regs = thread, .time_ns = a->session->jvms.stopped_ns, .wants_span = true})
			.known;
	a->spent_ns += now_ns() - began;
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
