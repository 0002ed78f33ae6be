// SPDX-License-Identifier: Apache-2.0
#include "dump.h"

#include "asleep.h"
#include "dump_outside.h"
#include "dump_virtual.h"
#include "agents/agents.h"
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
#define ALONE_NS 1000000000ULL	      /* of a tick, if the recording is a dump and nothing else */
#define BESIDE_NS 20000000ULL	      /* otherwise: samples and events wait meanwhile */
#define PASSES 5		      /* to find a moment in which no owner of a lock runs */
#define OWNERS_ALONE_NS 5000000000ULL /* for what threads wait for */
#define OWNERS_BESIDE_NS 500000000ULL

struct entry {
	struct process *process; /* NULL: it has ended, and is not part of the dump */
	uint32_t thread;	 /* the trace's id */
	uint64_t java_thread;	 /* 0: none */
	uint32_t tid, flags, node;
	uint64_t exec_ns; /* its CPU time when it was seen off the CPU */
	bool has_stack;
	bool owned; /* see BRAID_DUMP_OWNED */
	uint32_t owner;
	uint64_t owner_number; /* of a virtual thread that owns it */
	uint32_t class;
	uint32_t vm_state; /* id of its name */
	uint64_t object;
};

struct java_entry {
	uint64_t java_thread;
	const struct entry *entry;
};

/* What one dump does at its ticks, in this order. */
enum stage { IDLE, STACKS, VIRTUAL, AGAIN };

struct dump {
	struct session *session;
	struct asleep_walk *walk;
	uint64_t last_ns; /* when the last dump began; 0: there was none */
	/* The rest is of one dump. */
	enum stage stage;
	VEC(struct entry) entries; /* sorted by tid after the first round */
	size_t sorted;
	uint64_t start_ns, began_ns, tick_ns;
	bool postponed; /* stacks, to the next tick */
	uint64_t left_out;
	uint64_t too_many;
	uint64_t not_looked;	 /* threads, of which it is not known what they wait for */
	struct process *process; /* of the waits, for one look after the other */
	struct waits waits;
	struct dump_outside outside;
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

static void free_parts(struct dump *d)
{
	free(d->entries.at);
	free(d->waits.threads);
	free(d->outside.jvms.at);
	for (size_t i = 0; i < d->virtual.count; i++)
		dump_virtual_free(d->virtual.at[i]);
	free(d->virtual.at);
	free(d->java.at);
}

void dump_free(struct dump *d)
{
	if (!d)
		return;
	free_parts(d);
	free(d->walk);
	free(d);
}

/* Ready for another one. */
static void clear(struct dump *d)
{
	free_parts(d);
	*d = (struct dump){.session = d->session, .walk = d->walk, .last_ns = d->began_ns};
}

/* The recording is one dump. */
static bool is_alone(const struct dump *d)
{
	return !d->session->options->config.dump_interval_ns;
}

static uint64_t slice_ns(const struct dump *d)
{
	return is_alone(d) ? ALONE_NS : BESIDE_NS;
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

/* In a recording of the whole machine, only JVMs are. */
static bool is_target(const struct session *s, const struct process *p)
{
	return !p->ended_ns && (p->libjvm_ns || !s->options->system_wide) &&
	       jvm_events_enabled(&s->jvms, p) & BRAID_EVENT_TYPE(DUMP);
}

/* The entry of a thread, which the first round adds; NULL: it is not wanted, or has its stack. */
static struct entry *entry_wanted(struct dump *d, const struct braid_asleep *a, uint64_t now)
{
	struct session *s = d->session;
	struct entry *e = entry_of(d, a->tid), fresh = {.tid = a->tid};
	const struct thread *thread;

	if (e || d->sorted)
		return e && e->process && !e->has_stack ? e : NULL;
	fresh.process = processes_find(s->processes, (pid_t)a->pid, now);
	if (!fresh.process || !is_target(s, fresh.process))
		return NULL;
	thread = d->entries.count < THREADS_MAX ? threads_at(s->threads, fresh.process, (pid_t)a->tid, now) : NULL;
	if (thread) {
		fresh.thread = thread->id;
		fresh.java_thread = thread->java_runs ? thread->java_thread : 0;
	}
	if (!thread || VEC_PUSH(&d->entries, fresh)) {
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
	struct entry *e = entry_wanted(d, &t->asleep, now);

	if (!e)
		return;
	e->flags = t->asleep.flags;
	e->exec_ns = t->asleep.exec_ns;
	if (t->asleep.flags & BRAID_DUMP_RUNS)
		return;
	if (BRAID_OFFCPU_CLASS(t->asleep.flags) == BRAID_OFFCPU_FUTEX && t->asleep.r10)
		e->flags |= BRAID_DUMP_TIMED;
	if (now - d->tick_ns > slice_ns(d)) {
		d->postponed = true;
		return;
	}
	if (now - d->began_ns > TIME_MAX_NS) {
		d->left_out++;
		e->has_stack = true;
		return;
	}
	e->node = asleep_walk(d->session, d->walk, e->process,
			      &(struct asleep_thread){.regs = &t->asleep,
						      .kernel = t->kernel,
						      .kernel_count = t->kernel_count < BRAID_DUMP_KERNEL_DEPTH
									      ? (uint32_t)t->kernel_count
									      : BRAID_DUMP_KERNEL_DEPTH,
						      .time_ns = now})
			  .known.node;
	e->has_stack = e->node;
}

void dump_sample(struct dump *d, const struct thread *thread, uint32_t node)
{
	struct entry *e = d->stage == STACKS ? entry_of(d, (uint32_t)thread->tid) : NULL;

	if (!e || e->thread != thread->id || e->has_stack)
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
	w->layout = dump_outside_layout(&d->outside, process);
	w->threads = m && count && w->layout ? calloc(count, sizeof(*w->threads)) : NULL;
	if (!w->threads || waits_open(w, process->pid, m->bias, m->module->vm))
		return false;
	for (const struct thread *t = process->threads; t; t = t->next)
		if (t->java_runs && t->java_thread)
			w->threads[w->count++] = (struct waits_thread){.address = t->java_thread, .number = t->id};
	waits_read_threads(w);
	return true;
}

/* Threads that wait for objects wait in a futex. */
static bool may_wait(const struct entry *e)
{
	return !(e->flags & BRAID_DUMP_RUNS) && BRAID_OFFCPU_CLASS(e->flags) == BRAID_OFFCPU_FUTEX;
}

static void forget_wait(struct entry *e)
{
	e->flags &= ~(BRAID_DUMP_MONITOR | BRAID_DUMP_WAIT | BRAID_DUMP_PARK | BRAID_DUMP_UNREAD);
	e->owner = e->class = 0;
	e->owner_number = 0;
	e->object = 0;
	e->owned = false;
}

static void look(struct dump *d, struct entry *e)
{
	static const uint32_t flags[] = {[WAIT_FOR_MONITOR] = BRAID_DUMP_MONITOR,
					 [WAIT_FOR_NOTIFY] = BRAID_DUMP_WAIT,
					 [WAIT_FOR_BLOCKER] = BRAID_DUMP_PARK};
	struct wait_object object;

	forget_wait(e);
	if (!e->process || !(e->java_thread || dump_outside_missing(&d->outside, e->process)))
		return;
	if (!waits_prepare(d, e->process)) {
		e->flags |= BRAID_DUMP_UNREAD;
		return;
	}
	e->vm_state =
		names_id(d->session->names, &e->process->account, trace_str_of(waits_state(&d->waits, e->java_thread)));
	if (!may_wait(e))
		return;
	e->flags |= waits_read(&d->waits, e->java_thread, &object) ? 0 : BRAID_DUMP_UNREAD;
	if (object.how == WAIT_FOR_NOTHING)
		return;
	e->flags |= flags[object.how];
	e->class = names_id(d->session->names, &e->process->account, trace_str_of(object.class));
	e->object = object.id;
	e->owner = object.owner.thread ? object.owner.thread->number : 0;
	e->owner_number = object.owner.virtual_number;
}

/* There is no time to look. */
static void leave_out(struct dump *d, struct entry *e)
{
	forget_wait(e);
	if (!e->java_thread)
		return;
	e->flags |= BRAID_DUMP_UNREAD;
	d->not_looked++;
}

/*
 * Whether the thread has not run since its CPU time was read, which is read again otherwise. What it runs now is not in
 * that time yet, so it must sleep, and must have been asleep before the time is read.
 */
static bool has_stayed(struct entry *e)
{
	uint64_t cpu_ns, kernel_ns, before = e->exec_ns;
	bool sleeps = procfs_sleeps(e->process->pid, (pid_t)e->tid);

	if (procfs_cpu_ns(e->process->pid, (pid_t)e->tid, &cpu_ns, &kernel_ns))
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
	uint64_t began = now_ns(), limit_ns = is_alone(d) ? OWNERS_ALONE_NS : OWNERS_BESIDE_NS;
	bool settled = false;

	for (int pass = 0; pass < PASSES && !settled && now_ns() - began < limit_ns / 2; pass++) {
		settled = true;
		waits_again(&d->waits);
		for (size_t i = 0; i < d->entries.count; i++) {
			bool late = !pass && now_ns() - began > limit_ns;

			if (late)
				leave_out(d, &d->entries.at[i]);
			else
				look(d, &d->entries.at[i]);
		}
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
	return (struct dump_java_thread){.thread = found->entry->thread, .node = found->entry->node};
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
static int note_java_threads(struct dump *d)
{
	int err = 0;

	for (size_t i = 0; i < d->entries.count && !err; i++)
		if (d->entries.at[i].java_thread)
			err = VEC_PUSH(&d->java, (struct java_entry){d->entries.at[i].java_thread, &d->entries.at[i]});
	VEC_SORT(&d->java, compare_java);
	return err;
}

static void begin_virtual_of(void *ctx, struct process *p)
{
	struct dump *d = ctx;
	struct dump_virtual *v = NULL;

	if (!is_target(d->session, p))
		return;
	if (dump_virtual_new(&v, d->session, d, p, d->began_ns) || (v && VEC_PUSH(&d->virtual, v))) {
		dump_virtual_free(v);
		d->too_many++;
	}
}

static int compare_processes(const void *x, const void *y)
{
	const struct entry *p = x, *q = y;
	int c = compare_u64(p->process ? p->process->id : 0, q->process ? q->process->id : 0);

	return c ? c : compare(x, y);
}

/* From now on threads are not looked for by tid, and what is prepared of a process is of all its threads. */
static void begin_virtual(struct dump *d)
{
	VEC_SORT(&d->entries, compare_processes);
	d->too_many += note_java_threads(d) != 0;
	processes_each(d->session->processes, begin_virtual_of, d);
}

/* One look at all virtual threads: true when it is complete. */
static bool read_virtual(struct dump *d, bool (*look_at)(struct dump_virtual *v, uint64_t limit_ns))
{
	for (size_t i = 0; i < d->virtual.count; i++) {
		uint64_t spent_ns = now_ns() - d->tick_ns;

		if (spent_ns > slice_ns(d) || !look_at(d->virtual.at[i], slice_ns(d) - spent_ns))
			return false;
	}
	return true;
}

/* ---- the dump ---- */

static void emit(struct dump *d, const struct entry *e)
{
	struct trace_jvm_event event = {.kind = BRAID_JVM_DUMP,
					.time_ns = d->began_ns,
					.thread = e->thread,
					.node = e->node,
					.name = e->class,
					.detail = e->vm_state,
					.number = e->object,
					.other = e->owner,
					.other_vthread = vthreads_id(d->session->vthreads, e->process, e->owner_number),
					.flags = e->flags | (e->owned ? BRAID_DUMP_OWNED : 0),
					.source = BRAID_SOURCE_KERNEL};

	if (procfs_cpu_ns(e->process->pid, (pid_t)e->tid, &event.value, &event.weight))
		event.value = e->exec_ns;
	jvm_events_emit(&d->session->jvms, e->process, &event);
}

static void say_missing(struct dump *d)
{
	struct sink *sink = &d->session->sink;

	if (d->too_many)
		sink_loss(sink, 0, "collector", "dump_thread", d->too_many);
	if (d->left_out)
		sink_notice(sink, 0, BRAID_NOTICE_INFO, "%llu threads have no stack: reading them took too long",
			    (unsigned long long)d->left_out);
	if (d->not_looked)
		sink_notice(sink, 0, BRAID_NOTICE_INFO,
			    "what %llu threads wait for is missing: reading it took too long",
			    (unsigned long long)d->not_looked);
	if (d->waits.missed)
		sink_notice(sink, 0, BRAID_NOTICE_INFO,
			    "the owners of %llu monitors are missing: searching them took too long",
			    (unsigned long long)d->waits.missed);
}

static void finish(struct dump *d)
{
	for (size_t i = 0; i < d->entries.count; i++)
		if (d->entries.at[i].process)
			emit(d, &d->entries.at[i]);
	for (size_t i = 0; i < d->virtual.count; i++)
		dump_virtual_finish(d->virtual.at[i]);
	say_missing(d);
	d->session->finished = d->session->finished || is_alone(d);
	clear(d);
}

static bool is_complete(const struct dump *d)
{
	for (size_t i = 0; i < d->entries.count; i++)
		if (d->entries.at[i].process && !d->entries.at[i].has_stack)
			return false;
	return true;
}

/* ---- ticks ---- */

struct readiness {
	const struct session *session;
	bool any, ready;
	uint64_t interval_ns; /* the shortest one */
};

/* `ctl` may have changed it for a process. */
static uint64_t interval_of(const struct session *s, const struct process *p)
{
	struct agent_state state;

	return agents_state(s->agents, p, &state) ? state.config.dump_interval_ns : s->jvms.config.dump_interval_ns;
}

/* Whether what stacks and names need has arrived. */
static void look_ready(void *ctx, struct process *p)
{
	struct readiness *r = ctx;
	uint64_t interval_ns;

	if (!is_target(r->session, p))
		return;
	interval_ns = interval_of(r->session, p);
	r->interval_ns = interval_ns < r->interval_ns ? interval_ns : r->interval_ns;
	r->any = true;
	r->ready = r->ready && jvm_code_is_known(p->jvm);
}

/* Whether a dump is to begin now. */
static bool begins(struct dump *d, uint64_t now)
{
	struct readiness r = {
		.session = d->session, .ready = !modules_reading(d->session->modules), .interval_ns = UINT64_MAX};

	processes_each(d->session->processes, look_ready, &r);
	if (!r.any || (d->last_ns && now - d->last_ns < r.interval_ns))
		return false;
	d->start_ns = d->start_ns ?: now;
	return r.ready || now - d->start_ns >= READY_WAIT_NS;
}

static void read_outside(void *ctx, struct process *p)
{
	struct dump *d = ctx;

	if (is_target(d->session, p))
		dump_outside_read(&d->outside, d->session, p);
}

/* True when all stacks are there, as far as they come. */
static bool read_stacks(struct dump *d, uint64_t now)
{
	d->postponed = false;
	(void)kernel_side_dump_threads(d->session->kernel, on_thread, d);
	if (!d->sorted)
		VEC_SORT(&d->entries, compare);
	d->sorted = d->entries.count;
	return is_complete(d) || (!d->postponed && now - d->began_ns >= RUNNING_WAIT_NS);
}

void dump_tick(struct dump *d, uint64_t now)
{
	if (d->session->finished)
		return;
	d->tick_ns = now;
	if (d->stage == IDLE && begins(d, now)) {
		d->began_ns = now;
		d->stage = STACKS;
		processes_each(d->session->processes, read_outside, d);
	}
	if (d->stage == STACKS && read_stacks(d, now)) {
		begin_virtual(d);
		d->stage = VIRTUAL;
	}
	if (d->stage == VIRTUAL && read_virtual(d, dump_virtual_read)) {
		find_owners(d);
		d->stage = AGAIN;
	}
	if (d->stage == AGAIN && read_virtual(d, dump_virtual_again))
		finish(d);
}

void dump_end(struct dump *d)
{
	if (d->stage == IDLE)
		return;
	sink_notice(&d->session->sink, 0, BRAID_NOTICE_WARNING,
		    "the last thread dump lacks what was not read when the recording ended");
	if (d->stage != AGAIN)
		find_owners(d);
	finish(d);
}

void dump_forget(struct dump *d, const struct process *process)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->entries.count; i++)
		if (d->entries.at[i].process == process)
			d->entries.at[i].process = NULL;
	for (size_t i = 0; i < d->virtual.count; i++)
		if (dump_virtual_is_of(d->virtual.at[i], process))
			dump_virtual_free(d->virtual.at[i]);
		else
			d->virtual.at[kept++] = d->virtual.at[i];
	d->virtual.count = kept;
	if (d->process == process)
		d->process = NULL;
}
