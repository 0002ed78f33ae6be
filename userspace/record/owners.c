// SPDX-License-Identifier: Apache-2.0
#include "owners.h"

#include "jvm/jvm.h"
#include "jvm/libjvm.h"
#include "jvm/parked.h"
#include "proc/procfs.h"
#include "process/processes.h"
#include "sink/names.h"

#include <stdlib.h>

#define PASSES 5 /* to find a moment in which no thread that waits runs */

bool owners_prepare(struct owners *o, struct process *process)
{
	const struct process_mapping *m = process->jvm ? libjvm_mapping(process) : NULL;
	struct waits *w = &o->waits;
	size_t count = 0;

	if (o->process == process)
		return w->count;
	o->process = process;
	free(w->threads);
	*w = (struct waits){.missed = w->missed};
	for (const struct thread *t = process->threads; t; t = t->next)
		count += t->java_runs && t->java_thread;
	w->layout = dump_outside_layout(&o->outside, process);
	w->threads = m && count && w->layout ? calloc(count, sizeof(*w->threads)) : NULL;
	if (!w->threads || waits_open(w, process->pid, m->bias, m->module->vm))
		return false;
	for (const struct thread *t = process->threads; t; t = t->next)
		if (t->java_runs && t->java_thread)
			w->threads[w->count++] = (struct waits_thread){.address = t->java_thread, .number = t->id};
	waits_read_threads(w);
	return true;
}

void owners_clear(struct owners *o)
{
	free(o->waits.threads);
	free(o->outside.jvms.at);
	*o = (struct owners){.session = o->session};
}

void owners_say_missing(const struct owners *o)
{
	struct sink *sink = &o->session->sink;

	if (o->not_looked)
		sink_notice(sink, 0, BRAID_NOTICE_INFO,
			    "what %llu threads wait for is missing: reading it took too long",
			    (unsigned long long)o->not_looked);
	if (o->waits.missed)
		sink_notice(sink, 0, BRAID_NOTICE_INFO,
			    "the owners of %llu monitors are missing: searching them took too long",
			    (unsigned long long)o->waits.missed);
}

static void forget(struct waiter *w)
{
	w->how = WAIT_FOR_NOTHING;
	w->owner = w->class = 0;
	w->owner_number = 0;
	w->object = 0;
	w->owned = w->is_lock = w->unread = false;
}

static void look(struct owners *o, struct waiter *w)
{
	struct names *names = o->session->names;
	struct wait_object object;

	forget(w);
	if (!w->process || !(w->java_thread || dump_outside_missing(&o->outside, w->process)))
		return;
	if (!owners_prepare(o, w->process)) {
		w->unread = true;
		return;
	}
	w->vm_state = names_id(names, &w->process->account, trace_str_of(waits_state(&o->waits, w->java_thread)));
	if (!w->in_futex)
		return;
	w->unread = !waits_read(&o->waits, w->java_thread, &object);
	if (object.how == WAIT_FOR_NOTHING)
		return;
	w->how = object.how;
	w->class = names_id(names, &w->process->account, trace_str_of(object.class));
	w->object = object.id;
	w->owner = object.owner.thread ? object.owner.thread->number : 0;
	w->owner_number = object.owner.virtual_number;
	w->is_lock = object.how == WAIT_FOR_MONITOR ||
		     (object.how == WAIT_FOR_BLOCKER && parked_is_lock(object.class, w->owner || w->owner_number));
}

/* There is no time to look. */
static void leave_out(struct owners *o, struct waiter *w)
{
	forget(w);
	w->unread = w->java_thread != 0;
	o->not_looked += w->unread;
}

/*
 * Whether the thread has not run since its CPU time was read, which is read again otherwise. What it runs now is not in
 * that time yet, so it must sleep, and must have been asleep before the time is read.
 */
static bool has_stayed(struct waiter *w)
{
	uint64_t cpu_ns, kernel_ns, before = w->exec_ns;
	bool sleeps = procfs_sleeps(w->process->pid, (pid_t)w->tid);

	if (procfs_cpu_ns(w->process->pid, (pid_t)w->tid, &cpu_ns, &kernel_ns))
		return false;
	w->exec_ns = cpu_ns;
	return sleeps && cpu_ns == before;
}

/* Looks at all. Returns whether all that have an owner have stayed. */
static bool pass(struct owners *o, const struct waiters *list, uint64_t end_ns)
{
	bool settled = true;

	waits_again(&o->waits);
	for (size_t i = 0; i < list->count; i++) {
		struct waiter *w = list->at(list->ctx, i);

		if (now_ns() > end_ns)
			leave_out(o, w);
		else
			look(o, w);
	}
	for (size_t i = 0; i < list->count; i++) {
		struct waiter *w = list->at(list->ctx, i);
		bool has_owner = w->owner || w->owner_number;

		w->owned = has_owner && has_stayed(w);
		settled = settled && w->owned == has_owner;
	}
	return settled;
}

/*
 * Owners are read one after the other. Those of threads that have not run from before the first one was read until the
 * last one was are true for the same moment: an owner that has not run either has released nothing. Only the first pass
 * can end early, because another one begins only if there is time for it.
 */
void owners_find(struct owners *o, const struct waiters *list, uint64_t limit_ns)
{
	uint64_t began = now_ns();

	for (int i = 0; i < PASSES; i++)
		if (pass(o, list, i ? UINT64_MAX : began + limit_ns) || now_ns() - began >= limit_ns / 2)
			return;
}
