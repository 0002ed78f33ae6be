// SPDX-License-Identifier: Apache-2.0
#include "thread_names.h"

#include "jvm_state.h"
#include "libjvm.h"

#include "hotspot/java_threads.h"
#include "hotspot/vm_threads.h"
#include "proc/procfs.h"
#include "util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define AGENT_NS 1000000000ULL	 /* by then an agent has reported the Java threads, which need no search */
#define AGE_NS 100000000ULL	 /* the same of a thread that starts, and it has its own name instead of its parent's */
#define WAIT_MIN_NS 100000000ULL /* after a look that has found names; it doubles with each one in vain */
#define WAIT_MAX_NS 60000000000ULL
#define SHARE 100		  /* at most a hundredth of a CPU's time for one JVM */
#define SHARE_ALL 20		  /* and a twentieth for all of them */
#define LOOK_MAX_NS 20000000ULL	  /* samples and events wait meanwhile */
#define OPEN_MAX_NS 1000000000ULL /* for one JVM, whose tables may be made to take long */
#define FINAL_MAX_NS 500000000ULL /* nobody wants to wait longer for the end of a recording */
#define PAUSE_NS 2000000L
#define FINAL_PAUSES 20
#define SEARCHES 5 /* of one thread's stack */

struct look {
	struct threads *threads;
	struct process *process;
	struct java_heap *heap;
	uint64_t old_ns; /* threads whose names are older */
	uint64_t until_ns;
	uint32_t pauses; /* that are left for threads that run */
	uint32_t found;
};

static bool is_cut(const struct thread *t)
{
	return t->cut_ns && !t->gone_ns && !(t->flags & TRACE_THREAD_JAVA);
}

/* A look that takes too long leaves the others to the next one. */
static bool is_sought(const struct look *l, const struct thread *t)
{
	return is_cut(t) && t->cut_ns <= l->old_ns && now_ns() < l->until_ns;
}

/* ---- Java threads, also those that JVM TI hides ---- */

static struct thread *thread_of(const struct look *l, uint32_t ns_tid)
{
	return ns_tid <= INT32_MAX ? threads_met(l->threads, l->process, (pid_t)ns_tid) : NULL;
}

static bool is_wanted(void *ctx, uint32_t ns_tid)
{
	struct thread *t = thread_of(ctx, ns_tid);

	if (!t || !is_sought(ctx, t))
		return false;
	t->listed = true;
	return true;
}

/* A collection may keep the name from being read. */
static void on_java_thread(void *ctx, const struct java_thread *found)
{
	struct look *l = ctx;
	struct thread *t = thread_of(l, found->tid);

	if (t && found->name_length)
		l->found += threads_call_whole(l->threads, t, found->name, found->name_length);
}

/* ---- other threads of the VM ---- */

/*
 * The whole name if a thread of the VM that is no Java thread says it by a function instead of its memory. In HotSpot's
 * sources: name() of WatcherThread (runtime/nonJavaThread.hpp), of JfrThreadSampler or JfrSamplerThread and of
 * JfrCPUTimeThreadSampler (jfr/periodic/sampling). NULL: none of these.
 */
static const char *constant_name(const char *comm)
{
	static const char *const names[] = {"VM Periodic Task Thread", "JFR Thread Sampler", "JFR Sampler Thread",
					    "JFR CPU Time Thread Sampler"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (comm_is_cut(comm, names[i], strlen(names[i])))
			return names[i];
	return NULL;
}

/* A thread without a Thread may get one, or it is the program's own. */
static void in_vain(struct thread *t)
{
	if (++t->searches >= SEARCHES)
		t->cut_ns = 0;
}

/* One that runs has no stack that could be read. It will sleep, but a recording that ends has no later look. */
static int find_stack(struct look *l, const struct thread *t, uint64_t *stack)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	int err;

	while ((err = procfs_stack_pointer(l->process->pid, t->tid, stack)) == -EBUSY && l->pauses) {
		l->pauses--;
		nanosleep(&pause, NULL);
	}
	return err;
}

static void search(struct look *l, struct thread *t)
{
	pid_t ns_tid = t->ns_tid ?: l->process->in_namespace ? procfs_ns_tid(l->process->pid, t->tid) : t->tid;
	char name[VM_THREAD_NAME_BYTES];
	const char *whole = name;
	uint64_t stack;
	int err = find_stack(l, t, &stack);

	if (err == -EBUSY)
		return;
	if (err || !vm_thread_find(l->heap, stack, (uint32_t)ns_tid, name)) {
		in_vain(t);
		return;
	}
	if (!comm_is_cut(t->comm, name, strlen(name)))
		whole = constant_name(t->comm);
	if (whole)
		l->found += threads_call_whole(l->threads, t, whole, strlen(whole));
	else
		in_vain(t);
}

/* ---- a look ---- */

static uint32_t count_cut(const struct process *p)
{
	uint32_t count = 0;

	for (const struct thread *t = p->threads; t; t = t->next)
		count += is_cut(t);
	return count;
}

static uint32_t count_sought(const struct look *l)
{
	uint32_t count = 0;

	for (const struct thread *t = l->process->threads; t; t = t->next)
		count += is_sought(l, t);
	return count;
}

/* What is found of the heap stays true, and to find it takes a hundred times as long as to use it. */
static int open_heap(struct look *l)
{
	struct process *p = l->process;
	const struct process_mapping *m = libjvm_mapping(p);
	uint64_t began_ns = now_ns();
	int err;

	if (!m || !p->jvm || !jvm_layout(p->jvm))
		return -ENOENT;
	l->heap = p->jvm->names_heap;
	if (l->heap)
		return java_heap_again(l->heap);
	if (p->jvm->names_heap_ns > OPEN_MAX_NS)
		return -ETIME;
	l->heap = malloc(sizeof(*l->heap));
	if (!l->heap)
		return -ENOMEM;
	err = java_heap_open(l->heap, p->pid, m->bias, m->module->vm, jvm_layout(p->jvm));
	p->jvm->names_heap_ns += now_ns() - began_ns;
	if (!err) {
		p->jvm->names_heap = l->heap;
		return 0;
	}
	java_heap_close(l->heap);
	free(l->heap);
	return err;
}

static int look_for_names(struct look *l)
{
	int err = open_heap(l);

	if (err)
		return err;
	for (struct thread *t = l->process->threads; t; t = t->next)
		t->listed = false;
	java_threads_some(l->heap, is_wanted, on_java_thread, l);
	for (struct thread *t = l->process->threads; t; t = t->next)
		if (!t->listed && is_sought(l, t))
			search(l, t);
	java_heap_close(l->heap);
	return 0;
}

struct tick {
	struct jvms *jvms;
	uint64_t now, until_ns;
	bool final;
};

static bool is_due(const struct tick *t, const struct process *p)
{
	if (!p->names_cut || !p->libjvm_ns || p->ended_ns)
		return false;
	if (t->final)
		return now_ns() < t->until_ns;
	return t->now >= p->names_look_ns && t->now >= t->jvms->names_look_ns &&
	       (!t->jvms->options->attach || t->now - p->libjvm_ns > AGENT_NS || (p->jvm && jvm_replayed(p->jvm)));
}

static void wait_for_next(struct process *p, uint64_t spent_ns, bool in_vain)
{
	uint64_t wait_ns = in_vain ? 2 * p->names_wait_ns : WAIT_MIN_NS;

	wait_ns = wait_ns < WAIT_MIN_NS ? WAIT_MIN_NS : wait_ns;
	p->names_wait_ns = wait_ns < WAIT_MAX_NS ? wait_ns : WAIT_MAX_NS;
	wait_ns = SHARE * spent_ns;
	p->names_look_ns = now_ns() + (wait_ns > p->names_wait_ns ? wait_ns : p->names_wait_ns);
}

static void tick(void *ctx, struct process *p)
{
	const struct tick *t = ctx;
	struct look l = {.threads = t->jvms->threads,
			 .process = p,
			 .old_ns = t->final ? UINT64_MAX : t->now - AGE_NS,
			 .until_ns = t->until_ns,
			 .pauses = t->final ? FINAL_PAUSES : 0};
	uint64_t began_ns = now_ns(), spent_ns = 0;
	uint32_t sought;
	int err;

	if (!is_due(t, p))
		return;
	sought = count_sought(&l);
	if (sought) {
		err = look_for_names(&l);
		spent_ns = now_ns() - began_ns;
		t->jvms->names_look_ns = now_ns() + SHARE_ALL * spent_ns;
		log_debug("names of threads in process %d: %u sought, %u found, in %llu us%s%s", p->pid, sought,
			  l.found, (unsigned long long)spent_ns / 1000, err ? ": " : "", err ? strerror(-err) : "");
	}
	p->names_cut = count_cut(p);
	wait_for_next(p, spent_ns, sought && !l.found);
}

void thread_names_tick(struct jvms *jvms, bool final)
{
	struct tick t = {.jvms = jvms, .now = now_ns(), .final = final};

	t.until_ns = t.now + (final ? FINAL_MAX_NS : LOOK_MAX_NS);
	processes_each(jvms->processes, tick, &t);
}
