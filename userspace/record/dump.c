// SPDX-License-Identifier: Apache-2.0
#include "dump.h"

#include "asleep.h"
#include "dump_outside.h"
#include "dump_virtual.h"
#include "owners.h"
#include "agents/agents.h"
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
#define OWNERS_ALONE_NS 5000000000ULL /* for what threads wait for */
#define OWNERS_BESIDE_NS 500000000ULL

struct entry {
	struct waiter wait; /* without a process, it is not part of the dump */
	uint32_t thread;    /* the trace's id */
	uint32_t flags, node;
	bool has_stack;
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
	struct owners owners;
	VEC(struct dump_virtual *) virtual;
	VEC(struct java_entry) java; /* entries of JavaThreads, sorted, when all have their stacks */
};

int dump_new(struct dump **out, struct session *s)
{
	struct dump *d = *out = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	d->session = d->owners.session = s;
	return asleep_walk_new(&d->walk);
}

static void free_parts(struct dump *d)
{
	free(d->entries.at);
	owners_clear(&d->owners);
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
	*d = (struct dump){
		.session = d->session, .walk = d->walk, .last_ns = d->began_ns, .owners = {.session = d->session}};
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

	return (p->wait.tid > q->wait.tid) - (p->wait.tid < q->wait.tid);
}

static struct entry *entry_of(struct dump *d, uint32_t tid)
{
	struct entry key = {.wait.tid = tid};

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
	struct entry *e = entry_of(d, a->tid), fresh = {.wait.tid = a->tid};
	const struct thread *thread;

	if (e || d->sorted)
		return e && e->wait.process && !e->has_stack ? e : NULL;
	fresh.wait.process = processes_find(s->processes, (pid_t)a->pid, now);
	if (!fresh.wait.process || !is_target(s, fresh.wait.process))
		return NULL;
	thread = d->entries.count < THREADS_MAX ? threads_at(s->threads, fresh.wait.process, (pid_t)a->tid, now) : NULL;
	if (thread) {
		fresh.thread = thread->id;
		fresh.wait.java_thread = thread->java_runs ? thread->java_thread : 0;
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
	e->wait.exec_ns = t->asleep.exec_ns;
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
	e->node = asleep_walk(d->session, d->walk, e->wait.process,
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

static struct waiter *waiter_at(void *ctx, size_t i)
{
	const struct dump *d = ctx;
	struct entry *e = &d->entries.at[i];

	e->wait.in_futex = !(e->flags & BRAID_DUMP_RUNS) && BRAID_OFFCPU_CLASS(e->flags) == BRAID_OFFCPU_FUTEX;
	return &e->wait;
}

static void find_owners(struct dump *d)
{
	owners_find(&d->owners, &(struct waiters){.at = waiter_at, .ctx = d, .count = d->entries.count},
		    is_alone(d) ? OWNERS_ALONE_NS : OWNERS_BESIDE_NS);
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
	if (!found || found->entry->wait.process != process)
		return (struct dump_java_thread){0};
	return (struct dump_java_thread){.thread = found->entry->thread, .node = found->entry->node};
}

void dump_monitors_again(struct dump *d)
{
	waits_again(&d->owners.waits);
}

bool dump_monitor(struct dump *d, struct process *process, uint64_t monitor, struct wait_object *to)
{
	return owners_prepare(&d->owners, process) && waits_monitor(&d->owners.waits, monitor, to);
}

/* Two processes may have a JavaThread at one address; then the virtual threads of one have no carriers. */
static int note_java_threads(struct dump *d)
{
	int err = 0;

	for (size_t i = 0; i < d->entries.count && !err; i++)
		if (d->entries.at[i].wait.java_thread)
			err = VEC_PUSH(&d->java,
				       (struct java_entry){d->entries.at[i].wait.java_thread, &d->entries.at[i]});
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
	int c = compare_u64(p->wait.process ? p->wait.process->id : 0, q->wait.process ? q->wait.process->id : 0);

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
	static const uint32_t flags[] = {[WAIT_FOR_MONITOR] = BRAID_DUMP_MONITOR,
					 [WAIT_FOR_NOTIFY] = BRAID_DUMP_WAIT,
					 [WAIT_FOR_BLOCKER] = BRAID_DUMP_PARK};
	const struct waiter *w = &e->wait;
	struct trace_jvm_event event = {.kind = BRAID_JVM_DUMP,
					.time_ns = d->began_ns,
					.thread = e->thread,
					.node = e->node,
					.name = w->class,
					.detail = w->vm_state,
					.number = w->object,
					.other = w->owner,
					.other_vthread =
						vthreads_id(d->session->vthreads, e->wait.process, w->owner_number),
					.flags = e->flags | flags[w->how] | (w->owned ? BRAID_DUMP_OWNED : 0) |
						 (w->unread ? BRAID_DUMP_UNREAD : 0),
					.source = BRAID_SOURCE_KERNEL};

	if (procfs_cpu_ns(e->wait.process->pid, (pid_t)w->tid, &event.value, &event.weight))
		event.value = e->wait.exec_ns;
	jvm_events_emit(&d->session->jvms, e->wait.process, &event);
}

static void say_missing(struct dump *d)
{
	struct sink *sink = &d->session->sink;

	if (d->too_many)
		sink_loss(sink, 0, "collector", "dump_thread", d->too_many);
	if (d->left_out)
		sink_notice(sink, 0, BRAID_NOTICE_INFO, "%llu threads have no stack: reading them took too long",
			    (unsigned long long)d->left_out);
	owners_say_missing(&d->owners);
}

static void finish(struct dump *d)
{
	for (size_t i = 0; i < d->entries.count; i++)
		if (d->entries.at[i].wait.process)
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
		if (d->entries.at[i].wait.process && !d->entries.at[i].has_stack)
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
		dump_outside_read(&d->owners.outside, d->session, p);
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
		if (d->entries.at[i].wait.process == process)
			d->entries.at[i].wait.process = NULL;
	for (size_t i = 0; i < d->virtual.count; i++)
		if (dump_virtual_is_of(d->virtual.at[i], process))
			dump_virtual_free(d->virtual.at[i]);
		else
			d->virtual.at[kept++] = d->virtual.at[i];
	d->virtual.count = kept;
	if (d->owners.process == process)
		d->owners.process = NULL;
}
