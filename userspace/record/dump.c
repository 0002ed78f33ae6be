// SPDX-License-Identifier: Apache-2.0
#include "dump.h"

#include "asleep.h"
#include "dump_virtual.h"
#include "hotspot/waits.h"
#include "jvm/jvm.h"
#include "jvm/jvm_emit.h"
#include "jvm/libjvm.h"
#include "jvm/vthreads.h"
#include "kernel/kernel_side.h"
#include "proc/procfs.h"
#include "process/modules.h"
#include "process/processes.h"
#include "sink/names.h"
#include "sink/records.h"
#include "util/compare.h"
#include "util/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define READY_WAIT_NS 5000000000ULL  /* for unwind tables of the libraries, and names from the agent */
#define RUNNING_WAIT_NS 100000000ULL /* for a sample of each thread that runs */
#define TIME_MAX_NS 10000000000ULL   /* for stacks; further threads have none */
#define THREADS_MAX 100000U
#define VIRTUAL_TIME_NS 1000000000ULL /* of a tick, for virtual threads */
#define PASSES 5		      /* to find a moment in which no owner of a lock runs */

struct entry {
	struct process *process;
	struct thread *thread;
	uint32_t tid, flags, node;
	uint64_t exec_ns; /* its CPU time when it was seen off the CPU */
	bool has_stack;
	bool owned; /* see BRAID_DUMP_OWNED */
	uint32_t owner;
	uint64_t owner_number; /* of a virtual thread that owns it */
	uint32_t class;
	uint64_t object;
};

struct java_entry {
	uint64_t java_thread;
	const struct entry *entry;
};

struct dump {
	struct session *session;
	struct asleep_walk *walk;
	VEC(struct entry) entries; /* sorted by tid after the first round */
	size_t sorted;
	uint64_t start_ns, began_ns;
	uint64_t left_out;
	uint64_t too_many;
	struct process *process; /* of the waits, for one look after the other */
	struct waits waits;
	bool is_reading; /* virtual threads */
	VEC(struct dump_virtual *) virtual;
	VEC(struct java_entry) java; /* entries of JavaThreads, sorted, when all have their stacks */
};

int dump_new(struct dump **out, struct session *s)
{
	struct dump *d = *out = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->session = s;
	return asleep_walk_new(&d->walk);
}

void dump_free(struct dump *d)
{
	if (!d)
		return;
	free(d->walk);
	free(d->entries.at);
	free(d->waits.threads);
	for (size_t i = 0; i < d->virtual.count; i++)
		dump_virtual_free(d->virtual.at[i]);
	free(d->virtual.at);
	free(d->java.at);
	free(d);
}

/* ---- threads and their stacks ---- */

static int compare(const void *x, const void *y)
{
	const struct entry *p = x, *q = y;

	return (p->tid > q->tid) - (p->tid < q->tid);
}

static struct entry *entry_of(struct dump *d, uint32_t tid)
{
	struct entry key = {.tid = tid};

	return d->sorted ? bsearch(&key, d->entries.at, d->sorted, sizeof(key), compare) : NULL;
}

static bool is_target(const struct session *s, uint32_t pid)
{
	for (int i = 0; i < s->options->pid_count; i++)
		if ((uint32_t)s->options->pids[i] == pid)
			return true;
	return false;
}

/* The entry of a thread, which the first round adds; NULL: it is not wanted, or has its stack. */
static struct entry *entry_wanted(struct dump *d, const struct braid_asleep *a, uint64_t now)
{
	struct session *s = d->session;
	struct entry *e = entry_of(d, a->tid), fresh = {.tid = a->tid};

	if (e || d->sorted)
		return e && !e->has_stack ? e : NULL;
	if (d->entries.count >= THREADS_MAX) {
		d->too_many++;
		return NULL;
	}
	fresh.process = processes_find(s->processes, (pid_t)a->pid, now);
	fresh.thread = fresh.process ? threads_at(s->threads, fresh.process, (pid_t)a->tid, now) : NULL;
	if (!fresh.thread || VEC_PUSH(&d->entries, fresh)) {
		d->too_many++;
		return NULL;
	}
	return &d->entries.at[d->entries.count - 1];
}

static void on_thread(void *ctx, const void *record)
{
	const struct braid_dump_thread *t = record;
	struct dump *d = ctx;
	uint64_t now = now_ns();
	struct entry *e = is_target(d->session, t->asleep.pid) ? entry_wanted(d, &t->asleep, now) : NULL;

	if (!e)
		return;
	e->flags = t->flags;
	e->exec_ns = t->asleep.exec_ns;
	if (t->flags & BRAID_DUMP_RUNS)
		return;
	if (BRAID_OFFCPU_CLASS(t->flags) == BRAID_OFFCPU_FUTEX && t->asleep.r10)
		e->flags |= BRAID_DUMP_TIMED;
	if (now - d->began_ns > TIME_MAX_NS) {
		d->left_out++;
		e->has_stack = true;
		return;
	}
	e->node = asleep_walk(d->session, d->walk, e->process,
			      &(struct asleep_thread){.regs = &t->asleep,
						      .kernel = t->kernel,
						      .kernel_count = t->kernel_count < BRAID_DUMP_KERNEL_DEPTH
									      ? t->kernel_count
									      : BRAID_DUMP_KERNEL_DEPTH,
						      .time_ns = now});
	e->has_stack = e->node;
}

void dump_sample(struct dump *d, const struct thread *thread, uint32_t node)
{
	struct entry *e = d ? entry_of(d, (uint32_t)thread->tid) : NULL;

	if (!e || e->thread != thread || e->has_stack)
		return;
	e->node = node;
	e->has_stack = true;
	e->flags = BRAID_OFFCPU_SYSCALL | BRAID_DUMP_RUNS;
}

/* ---- what they wait for ---- */

/* The process's JavaThreads. False: nothing can be read. */
static bool waits_prepare(struct dump *d, struct process *process)
{
	const struct process_mapping *m = process->jvm ? libjvm_mapping(process) : NULL;
	struct waits *w = &d->waits;
	size_t count = 0;

	if (d->process == process)
		return w->count;
	d->process = process;
	free(w->threads);
	*w = (struct waits){0};
	for (const struct thread *t = process->threads; t; t = t->next)
		count += t->java_runs && t->java_thread;
	w->threads = m && count ? calloc(count, sizeof(*w->threads)) : NULL;
	if (!w->threads || waits_open(w, process->pid, m->bias, m->module->vm))
		return false;
	w->layout = jvm_layout(process->jvm);
	for (const struct thread *t = process->threads; t; t = t->next)
		if (t->java_runs && t->java_thread)
			w->threads[w->count++] = (struct waits_thread){.address = t->java_thread, .number = t->id};
	waits_read_threads(w);
	return true;
}

/* Threads that wait for objects wait in a futex. */
static bool may_wait(const struct entry *e)
{
	return e->thread->java_runs && e->thread->java_thread && !(e->flags & BRAID_DUMP_RUNS) &&
	       BRAID_OFFCPU_CLASS(e->flags) == BRAID_OFFCPU_FUTEX;
}

static void look(struct dump *d, struct entry *e)
{
	static const uint32_t flags[] = {[WAIT_FOR_MONITOR] = BRAID_DUMP_MONITOR,
					 [WAIT_FOR_NOTIFY] = BRAID_DUMP_WAIT,
					 [WAIT_FOR_BLOCKER] = BRAID_DUMP_PARK};
	struct wait_object object;

	e->flags &= ~(BRAID_DUMP_MONITOR | BRAID_DUMP_WAIT | BRAID_DUMP_PARK);
	e->owner = e->class = 0;
	e->owner_number = 0;
	e->object = 0;
	e->owned = false;
	if (!may_wait(e) || !waits_prepare(d, e->process))
		return;
	waits_read(&d->waits, e->thread->java_thread, &object);
	if (object.how == WAIT_FOR_NOTHING)
		return;
	e->flags |= flags[object.how];
	e->class = names_id(d->session->names, &e->process->account, trace_str_of(object.class));
	e->object = object.id;
	e->owner = object.owner.thread ? object.owner.thread->number : 0;
	e->owner_number = object.owner.virtual_number;
}

/*
 * Whether the thread has not run since its CPU time was read, which is read again otherwise. What it runs now is not in
 * that time yet, so it must sleep, and must have been asleep before the time is read.
 */
static bool has_stayed(struct entry *e)
{
	uint64_t cpu_ns, kernel_ns, before = e->exec_ns;
	bool sleeps = procfs_sleeps(e->process->pid, e->thread->tid);

	if (procfs_cpu_ns(e->process->pid, e->thread->tid, &cpu_ns, &kernel_ns))
		return false;
	e->exec_ns = cpu_ns;
	return sleeps && cpu_ns == before;
}

/*
 * Owners are read one after the other. Those of threads that have not run from before the first one was read until the
 * last one was are true for the same moment: an owner that has not run either has released nothing.
 */
static void find_owners(struct dump *d)
{
	bool settled = false;

	for (int pass = 0; pass < PASSES && !settled; pass++) {
		settled = true;
		waits_again(&d->waits);
		for (size_t i = 0; i < d->entries.count; i++)
			look(d, &d->entries.at[i]);
		for (size_t i = 0; i < d->entries.count; i++) {
			struct entry *e = &d->entries.at[i];

			bool has_owner = e->owner || e->owner_number;

			e->owned = has_owner && has_stayed(e);
			settled = settled && e->owned == has_owner;
		}
	}
}

/* ---- virtual threads ---- */

static int compare_java(const void *x, const void *y)
{
	const struct java_entry *p = x, *q = y;

	return compare_u64(p->java_thread, q->java_thread);
}

struct dump_java_thread dump_java_thread(struct dump *d, struct process *process, uint64_t java_thread)
{
	const struct java_entry key = {.java_thread = java_thread}, *found = NULL;

	if (d->java.count)
		found = bsearch(&key, d->java.at, d->java.count, sizeof(key), compare_java);
	if (!found || found->entry->process != process)
		return (struct dump_java_thread){0};
	return (struct dump_java_thread){.thread = found->entry->thread->id, .node = found->entry->node};
}

void dump_monitors_again(struct dump *d)
{
	waits_again(&d->waits);
}

bool dump_monitor(struct dump *d, struct process *process, uint64_t monitor, struct wait_object *to)
{
	return waits_prepare(d, process) && waits_monitor(&d->waits, monitor, to);
}

/* Two processes may have a JavaThread at one address; then the virtual threads of one have no carriers. */
static int begin_virtual(struct dump *d)
{
	const struct session *s = d->session;
	int err = 0;

	d->is_reading = true;
	for (size_t i = 0; i < d->entries.count && !err; i++)
		if (d->entries.at[i].thread->java_thread)
			err = VEC_PUSH(&d->java,
				       (struct java_entry){d->entries.at[i].thread->java_thread, &d->entries.at[i]});
	VEC_SORT(&d->java, compare_java);
	for (int i = 0; i < s->options->pid_count && !err; i++) {
		struct process *p = processes_find(s->processes, s->options->pids[i], now_ns());
		struct dump_virtual *v = NULL;

		err = p ? dump_virtual_new(&v, d->session, d, p, d->began_ns) : 0;
		if (v && VEC_PUSH(&d->virtual, v)) {
			dump_virtual_free(v);
			err = -ENOMEM;
		}
	}
	return err;
}

/* True when all has been read. */
static bool read_virtual(struct dump *d)
{
	bool done = true;

	for (size_t i = 0; i < d->virtual.count && done; i++)
		done = dump_virtual_read(d->virtual.at[i], VIRTUAL_TIME_NS);
	return done;
}

/* ---- the dump ---- */

static void emit(struct dump *d, const struct entry *e)
{
	struct trace_jvm_event event = {.kind = BRAID_JVM_DUMP,
					.time_ns = d->began_ns,
					.thread = e->thread->id,
					.node = e->node,
					.name = e->class,
					.number = e->object,
					.other = e->owner,
					.other_vthread = vthreads_id(d->session->vthreads, e->process, e->owner_number),
					.flags = e->flags | (e->owned ? BRAID_DUMP_OWNED : 0),
					.source = BRAID_SOURCE_KERNEL};

	if (procfs_cpu_ns(e->process->pid, e->thread->tid, &event.value, &event.weight))
		event.value = e->exec_ns;
	jvm_events_emit(&d->session->jvms, e->process, &event);
}

static void finish(struct dump *d)
{
	struct session *s = d->session;

	find_owners(d);
	for (size_t i = 0; i < d->entries.count; i++)
		emit(d, &d->entries.at[i]);
	for (size_t i = 0; i < d->virtual.count; i++)
		dump_virtual_finish(d->virtual.at[i]);
	if (d->too_many)
		sink_loss(&s->sink, 0, "collector", "dump_thread", d->too_many);
	if (d->left_out)
		sink_notice(&s->sink, 0, BRAID_NOTICE_INFO, "%llu threads have no stack: reading them took too long",
			    (unsigned long long)d->left_out);
	if (d->waits.missed)
		sink_notice(&s->sink, 0, BRAID_NOTICE_INFO,
			    "the owners of %llu monitors are missing: searching them took too long",
			    (unsigned long long)d->waits.missed);
	s->finished = true;
}

static bool is_complete(const struct dump *d)
{
	for (size_t i = 0; i < d->entries.count; i++)
		if (!d->entries.at[i].has_stack)
			return false;
	return true;
}

/* Whether what stacks and names need has arrived. */
static bool is_ready(const struct session *s, uint64_t now)
{
	for (int i = 0; i < s->options->pid_count; i++) {
		const struct process *p = processes_find(s->processes, s->options->pids[i], now);

		if (p && p->jvm && jvm_had_agent(p->jvm) && !jvm_replayed(p->jvm))
			return false;
	}
	return !modules_reading(s->modules);
}

void dump_tick(struct dump *d, uint64_t now)
{
	if (!d || d->session->finished)
		return;
	d->start_ns = d->start_ns ?: now;
	if (!is_ready(d->session, now) && now - d->start_ns < READY_WAIT_NS)
		return;
	d->began_ns = d->began_ns ?: now;
	if (!d->is_reading) {
		(void)kernel_side_dump_threads(d->session->kernel, on_thread, d);
		if (!d->sorted)
			VEC_SORT(&d->entries, compare);
		d->sorted = d->entries.count;
		if (!is_complete(d) && now - d->began_ns < RUNNING_WAIT_NS)
			return;
		d->too_many += begin_virtual(d) != 0;
	}
	if (read_virtual(d))
		finish(d);
}
