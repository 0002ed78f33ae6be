// SPDX-License-Identifier: Apache-2.0
#include "dump_virtual.h"

#include "dump.h"
#include "frozen.h"
#include "hotspot/virtual.h"
#include "hotspot/waits.h"
#include "jvm/jvm.h"
#include "jvm/jvm_emit.h"
#include "jvm/layouts.h"
#include "jvm/libjvm.h"
#include "jvm/vthreads.h"
#include "process/processes.h"
#include "sink/names.h"
#include "util/clock.h"
#include "util/pair_map.h"
#include "util/vec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIME_MAX_NS 10000000000ULL
#define COLLECTOR_WAIT_US 500
#define NAMED_MAX (1U << 17)  /* the others are counted by stack */
#define ALIKE_MAX (1U << 16)  /* stacks of those */
#define OWNERS_MAX (1U << 16) /* threads that are looked at again */

/* What a thread waits for, and who owns that. */
struct wanted {
	struct trace_jvm_event event;
	uint64_t owner_number;	      /* of the virtual thread that owns it; 0: event.other does, or who has locked: */
	uint64_t object, collections; /* as in struct wait_object and struct virtual_thread */
};

/* A thread that waits for what another one may own: at one look and at another one. */
struct owned {
	struct wanted first, again;
};

struct dump_virtual {
	struct session *session;
	struct process *process;
	struct dump *dump;
	uint64_t dump_ns, spent_ns;
	struct java_heap heap;
	struct virtuals *virtuals;
	struct frozen_walk *walk;
	struct pair_map classes; /* Klass: id of its name, + 1 */
	size_t named;
	VEC(struct trace_jvm_event) alike;
	struct pair_map alike_of; /* stack and class, flags: index in alike, + 1 */
	VEC(struct owned) owned;
	struct pair_map owned_of; /* number: index in owned, + 1 */
	VEC(uint64_t) lockers;	  /* numbers of threads that have locked objects, */
	struct pair_map locked;	  /* (object, count of collections): index in lockers, + 1 */
	uint64_t lost;
	bool out_of_time;
	bool again, again_done; /* the second look has begun, has ended */
	struct virtuals_left_out left;
	int err;
};

int dump_virtual_new(struct dump_virtual **out, struct session *s, struct dump *dump, struct process *process,
		     uint64_t dump_ns)
{
	const struct process_mapping *m = process->jvm ? libjvm_mapping(process) : NULL;
	struct dump_virtual *d;
	int err = -ENOENT;

	*out = NULL;
	if (m)
		layouts_find(&s->jvms, process);
	if (!m || !jvm_layout(process->jvm))
		return 0;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->session = s;
	d->process = process;
	d->dump_ns = dump_ns;
	d->dump = dump;
	err = java_heap_open(&d->heap, process->pid, m->bias, m->module->vm, jvm_layout(process->jvm));
	err = err ?: virtuals_new(&d->virtuals, &d->heap);
	err = err ?: frozen_walk_new(&d->walk, s, process, &d->heap.layout);
	if (!err)
		*out = d;
	else
		dump_virtual_free(d);
	return err == -ENOMEM ? err : 0;
}

void dump_virtual_free(struct dump_virtual *d)
{
	if (!d)
		return;
	virtuals_free(d->virtuals);
	java_heap_close(&d->heap);
	frozen_walk_free(d->walk);
	pair_map_free(&d->classes);
	free(d->alike.at);
	pair_map_free(&d->alike_of);
	free(d->owned.at);
	pair_map_free(&d->owned_of);
	free(d->lockers.at);
	pair_map_free(&d->locked);
	free(d);
}

/* ---- events ---- */

/* `of`: how it is named, "" or BRAID_CONDITION_OF. */
static uint32_t class_name(struct dump_virtual *d, uint64_t klass, const char *of)
{
	const struct pair_entry *e = klass ? pair_find(&d->classes, klass, *of) : NULL;
	char name[256], text[sizeof(name) + sizeof(BRAID_CONDITION_OF)];
	uint32_t id;

	if (!klass || e)
		return e ? e->value - 1 : 0;
	if (!java_heap_class_name(&d->heap, klass, name, sizeof(name)))
		return 0;
	snprintf(text, sizeof(text), "%s%s", of, name);
	id = names_id(d->session->names, &d->process->account, trace_str_of(text));
	(void)pair_put(&d->classes, klass, *of, id + 1);
	return id;
}

static uint32_t flags_of(const struct virtual_thread *t)
{
	return t->state | (t->timed ? BRAID_DUMP_TIMED : 0) | (t->moved ? BRAID_VTHREAD_RAN : 0) |
	       (t->deep ? BRAID_VTHREAD_DEEP : 0);
}

/* Its id in the trace, by which it has a name there. */
static uint32_t vthread_id(struct dump_virtual *d, const struct virtual_thread *t)
{
	struct braid_event_vthread e = {.id = t->number, .name_bytes = t->name_bytes, .utf16 = t->coder != 0};

	if (e.name_bytes > sizeof(e.name))
		e.name_bytes = sizeof(e.name);
	memcpy(e.name, t->name, e.name_bytes);
	vthreads_seen(d->session->vthreads, d->process, &e);
	return vthreads_id(d->session->vthreads, d->process, t->number);
}

static void take_wait(struct dump_virtual *d, const struct virtual_thread *t, struct wanted *w)
{
	struct trace_jvm_event *e = &w->event;
	struct wait_object object;

	if (t->blocker) {
		e->flags |= BRAID_DUMP_PARK;
		e->number = t->blocker;
		e->name =
			t->lock_class ? class_name(d, t->lock_class, BRAID_CONDITION_OF) : class_name(d, t->class, "");
		if (t->owner)
			e->other = dump_java_thread(d->dump, d->process, t->owner).thread;
		w->owner_number = t->owner ? 0 : t->owner_number;
	} else if (t->monitor && dump_monitor(d->dump, d->process, t->monitor, &object)) {
		e->flags |= t->state == BRAID_VTHREAD_BLOCKED ? BRAID_DUMP_MONITOR : BRAID_DUMP_WAIT;
		e->number = object.id;
		e->name = names_id(d->session->names, &d->process->account, trace_str_of(object.class));
		e->other = object.owner.thread ? object.owner.thread->number : 0;
		w->owner_number = object.owner.virtual_number;
		w->object = object.object;
		w->collections = t->collections;
	}
}

static struct wanted event_of(struct dump_virtual *d, const struct virtual_thread *t)
{
	struct dump_java_thread carrier = {0};
	bool mounted = t->state == BRAID_VTHREAD_MOUNTED || t->state == BRAID_VTHREAD_PINNED;
	struct wanted w;

	if (mounted && t->carrier)
		carrier = dump_java_thread(d->dump, d->process, t->carrier);
	w = (struct wanted){.event = {.kind = BRAID_JVM_DUMP_VTHREAD,
				      .time_ns = d->dump_ns,
				      .thread = carrier.thread,
				      .node = mounted ? carrier.node : frozen_node(d->walk, t, d->dump_ns),
				      .value = 1,
				      .flags = flags_of(t),
				      .source = BRAID_SOURCE_KERNEL}};
	take_wait(d, t, &w);
	return w;
}

static void emit(struct dump_virtual *d, struct trace_jvm_event *e)
{
	jvm_events_emit(&d->session->jvms, d->process, e);
}

/* Beyond what can be named, threads on the same stack are one event. */
static void add_alike(struct dump_virtual *d, struct trace_jvm_event *e)
{
	uint64_t where = (uint64_t)e->node << 32 | e->name;
	const struct pair_entry *known = pair_find(&d->alike_of, where, e->flags);

	if (known) {
		d->alike.at[known->value - 1].value++;
		return;
	}
	e->number = e->thread = 0;
	if (d->alike.count >= ALIKE_MAX || VEC_PUSH(&d->alike, *e) ||
	    !pair_put(&d->alike_of, where, e->flags, (uint32_t)d->alike.count))
		d->lost++;
}

/* Keeps it for another look. */
static bool keep_owned(struct dump_virtual *d, const struct virtual_thread *t, const struct wanted *w)
{
	if ((!w->event.other && !w->owner_number && !w->object) || d->owned.count >= OWNERS_MAX ||
	    VEC_PUSH(&d->owned, (struct owned){.first = *w}))
		return false;
	if (pair_put(&d->owned_of, t->number, 0, (uint32_t)d->owned.count))
		return true;
	d->owned.count--;
	return false;
}

static void keep_locked(struct dump_virtual *d, const struct virtual_thread *t)
{
	if (!t->locked_count || d->lockers.count >= OWNERS_MAX || VEC_PUSH(&d->lockers, t->number))
		return;
	for (uint32_t i = 0; i < t->locked_count; i++)
		(void)pair_put(&d->locked, t->locked[i], t->collections, (uint32_t)d->lockers.count);
}

static void on_thread(void *ctx, const struct virtual_thread *t)
{
	struct dump_virtual *d = ctx;
	struct wanted w = event_of(d, t);

	if (d->named < NAMED_MAX)
		w.event.vthread = vthread_id(d, t);
	if (!w.event.vthread)
		add_alike(d, &w.event);
	else if (!keep_owned(d, t, &w))
		emit(d, &w.event);
	d->named += w.event.vthread != 0;
	keep_locked(d, t);
}

/* ---- looks ---- */

/* True when all threads have been seen, or never will be. */
static bool look(struct dump_virtual *d, virtual_fn fn, uint64_t limit_ns)
{
	uint64_t began = now_ns(), now = began;
	int more = 1;

	while (more && now - began < limit_ns && d->spent_ns + (now - began) < TIME_MAX_NS) {
		more = virtuals_next(d->virtuals, began + limit_ns, fn, d);
		if (more == -EAGAIN)
			usleep(COLLECTOR_WAIT_US);
		else if (more < 0)
			break;
		now = now_ns();
	}
	d->spent_ns += now - began;
	d->out_of_time = d->out_of_time || (more && d->spent_ns >= TIME_MAX_NS);
	if (more < 0 && more != -EAGAIN)
		d->err = more;
	return !more || d->err || d->out_of_time;
}

bool dump_virtual_is_of(const struct dump_virtual *d, const struct process *process)
{
	return d->process == process;
}

bool dump_virtual_read(struct dump_virtual *d, uint64_t limit_ns)
{
	return look(d, on_thread, limit_ns);
}

static void on_thread_again(void *ctx, const struct virtual_thread *t)
{
	struct dump_virtual *d = ctx;
	const struct pair_entry *known = pair_find(&d->owned_of, t->number, 0);

	if (known)
		d->owned.at[known->value - 1].again = event_of(d, t);
	keep_locked(d, t);
}

/* False: there is nothing to look at. */
static bool begin_again(struct dump_virtual *d)
{
	d->again = true;
	d->left = virtuals_left_out(d->virtuals);
	if (!d->owned.count || d->err || d->out_of_time)
		return false;
	virtuals_free(d->virtuals);
	d->virtuals = NULL;
	dump_monitors_again(d->dump);
	return !virtuals_new(&d->virtuals, &d->heap);
}

bool dump_virtual_again(struct dump_virtual *d, uint64_t limit_ns)
{
	if (!d->again && !begin_again(d))
		d->again_done = true;
	d->again_done = d->again_done || look(d, on_thread_again, limit_ns);
	return d->again_done;
}

/* The number of the virtual thread that owns it; 0: another thread does, or it is not known. */
static uint64_t owner_of(const struct dump_virtual *d, const struct wanted *w)
{
	const struct pair_entry *e = w->object ? pair_find(&d->locked, w->object, w->collections) : NULL;

	return e ? d->lockers.at[e->value - 1] : w->owner_number;
}

/* Whether it waited as before: on the same stack, for an object of the same class with the same owner. */
static bool is_same(const struct dump_virtual *d, const struct wanted *p, const struct wanted *q)
{
	return p->event.flags == q->event.flags && p->event.name == q->event.name && p->event.node == q->event.node &&
	       p->event.other == q->event.other && owner_of(d, p) == owner_of(d, q);
}

static void emit_owned(struct dump_virtual *d, struct owned *o)
{
	struct trace_jvm_event *e = &o->first.event;
	bool same = is_same(d, &o->first, &o->again);

	e->other_vthread = vthreads_id(d->session->vthreads, d->process, owner_of(d, &o->first));
	if (same && (e->other || e->other_vthread))
		e->flags |= BRAID_DUMP_OWNED;
	emit(d, e);
}

/* ---- the end ---- */

static void say(struct dump_virtual *d)
{
	const struct virtuals_left_out *left = &d->left;
	struct sink *sink = &d->session->sink;
	uint32_t id = d->process->id;

	if (left->unreadable + d->lost)
		sink_loss(sink, id, "collector", "dump_vthread", left->unreadable + d->lost);
	if (left->unreadable)
		sink_notice(sink, id, BRAID_NOTICE_WARNING,
			    "the dump lacks virtual threads: %llu references in the heap cannot be followed%s",
			    (unsigned long long)left->unreadable,
			    d->heap.layout.objects.oop_bad ? " while ZGC moves objects" : "");
	if (left->untracked)
		sink_notice(sink, id, BRAID_NOTICE_WARNING,
			    "the dump lacks virtual threads that no executor has started: the JVM runs with "
			    "-Djdk.trackAllThreads=false");
	if (left->too_many)
		sink_notice(sink, id, BRAID_NOTICE_WARNING, "the dump has the first %u virtual threads only",
			    VIRTUAL_THREADS_MAX);
	if (d->out_of_time)
		sink_notice(sink, id, BRAID_NOTICE_WARNING,
			    "the dump lacks virtual threads: reading them took too long");
	if (d->err)
		sink_notice(sink, id, BRAID_NOTICE_WARNING, "the dump lacks virtual threads: %s", strerror(-d->err));
}

void dump_virtual_finish(struct dump_virtual *d)
{
	if (!d->again)
		d->left = virtuals_left_out(d->virtuals);
	for (size_t i = 0; i < d->owned.count; i++)
		emit_owned(d, &d->owned.at[i]);
	for (size_t i = 0; i < d->alike.count; i++)
		emit(d, &d->alike.at[i]);
	say(d);
}
