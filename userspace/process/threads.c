// SPDX-License-Identifier: Apache-2.0
#include "threads.h"

#include "processes.h"
#include "sideband.h"
#include "proc/procfs.h"
#include "sink/records.h"
#include "util/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

/* Earlier threads that are kept of one tid; older ones are forgotten. */
#define OLDER_MAX 16

#define HOST_TIDS_MAX (1U << 17)
#define NUMBERS_AGAIN_NS 10000000000ULL

struct threads {
	struct sink *sink;
	struct sideband *sideband; /* NULL: not open yet */
	struct thread *by_key;	   /* the latest thread of each key */
	struct thread *gone;
	uint32_t last;
};

int threads_new(struct threads **out, struct sink *sink)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->sink = sink;
	return 0;
}

void threads_follow(struct threads *t, struct sideband *sideband)
{
	t->sideband = sideband;
}

/*
 * The key includes the pid, so a process's reports of threads concern its own threads alone, whatever tids they
 * contain.
 */
static uint64_t thread_key(pid_t pid, pid_t tid)
{
	return (uint64_t)pid << 32 | (uint32_t)tid;
}

static struct thread *youngest(const struct threads *t, uint64_t key)
{
	struct thread *found;

	HASH_FIND(hh, t->by_key, &key, sizeof(key), found);
	return found;
}

static void set_youngest(struct threads *t, struct thread *thread)
{
	HASH_ADD(hh, t->by_key, key, sizeof(thread->key), thread);
}

static void thread_forget(struct threads *t, struct thread *thread)
{
	struct thread *at = youngest(t, thread->key);

	if (at == thread) {
		HASH_DEL(t->by_key, at);
		if (thread->older)
			set_youngest(t, thread->older);
	} else {
		while (at && at->older != thread)
			at = at->older;
		if (at)
			at->older = thread->older;
	}
	if (thread->gone_ns)
		DL_DELETE2(t->gone, thread, gone_prev, gone_next);
	DL_DELETE(thread->process->threads, thread);
	account_release(&thread->process->account, BUDGET_THREADS, 1);
	free(thread->name);
	free(thread->group);
	free(thread);
}

void threads_forget(struct threads *t, struct process *process)
{
	while (process->threads)
		thread_forget(t, process->threads);
	pair_map_free(&process->host_tids);
}

void threads_free(struct threads *t)
{
	free(t); /* processes own the threads */
}

static void set_gone(struct threads *t, struct thread *thread)
{
	if (thread->gone_ns)
		return;
	thread->gone_ns = now_ns();
	DL_APPEND2(t->gone, thread, gone_prev, gone_next);
}

void threads_tick(struct threads *t)
{
	uint64_t now = now_ns();

	while (t->gone && t->gone->gone_ns + PROCESS_KEEP_NS < now)
		thread_forget(t, t->gone);
}

/* ---- identity ---- */

void thread_call(struct thread *thread, const char *name)
{
	char *copy = strdup(name);

	if (!copy)
		return;
	free(thread->name);
	thread->name = copy;
	thread->named = true;
	thread->cut_ns = 0;
}

/* A name of the kernel's. */
static void set_comm(struct thread *thread, const char *comm)
{
	snprintf(thread->comm, sizeof(thread->comm), "%s", comm);
	thread->cut_ns = comm_is_full(thread->comm) ? now_ns() : 0;
	thread->searches = 0;
	thread->process->names_cut = thread->process->names_cut || thread->cut_ns;
}

void threads_emit(struct threads *t, struct thread *thread)
{
	if (!thread->ns_tid)
		thread->ns_tid = procfs_ns_tid(thread->process->pid, thread->tid) ?: thread->tid;
	thread->defined = true;
	sink_thread(t->sink, &(struct trace_thread){.thread = thread->id,
						    .process = thread->process->id,
						    .tid = (uint32_t)thread->tid,
						    .ns_tid = (uint32_t)thread->ns_tid,
						    .flags = thread->flags,
						    .name = trace_str_of(thread->name),
						    .group = trace_str_of(thread->group ?: "")});
}

void threads_define(struct threads *t, struct thread *thread)
{
	if (!thread->defined)
		threads_emit(t, thread);
}

bool threads_call_whole(struct threads *t, struct thread *thread, const char *name, size_t length)
{
	char text[THREAD_NAME_MAX];
	bool whole = thread->cut_ns && comm_is_cut(thread->comm, name, length);

	thread->cut_ns = 0;
	if (!whole)
		return false;
	utf8_from_modified(text, sizeof(text), name, length);
	thread_call(thread, text);
	if (thread->defined)
		threads_emit(t, thread);
	return true;
}

static void bound_older(struct threads *t, struct thread *thread)
{
	for (int i = 0; thread && i < OLDER_MAX; i++)
		thread = thread->older;
	if (thread)
		thread_forget(t, thread);
}

static void thread_add(struct threads *t, struct thread *thread)
{
	thread->older = youngest(t, thread->key);
	if (thread->older)
		HASH_DEL(t->by_key, thread->older);
	set_youngest(t, thread);
	DL_PREPEND(thread->process->threads, thread);
	bound_older(t, thread);
}

/*
 * The name of a running thread, NULL for one that has ended. The first thread has its process's name, which the
 * side-band has followed. What /proc says of the tid is said of the program that the process executes by now, and of
 * another process once the pid is used again.
 */
static const char *find_comm(const struct process *process, pid_t tid, char to[16])
{
	if (tid == process->pid)
		return process->comm;
	if (!tid || process->gone_ns || procfs_comm(process->pid, tid, to, 16))
		return NULL;
	return to;
}

/* `tid` 0: the thread `ns_tid` of the process has ended. `comm`: its name; NULL: it is to be looked up. */
static struct thread *new_thread(struct threads *t, struct process *process, pid_t tid, pid_t ns_tid, const char *comm)
{
	struct thread *thread;
	char found[16];

	if (!account_reserve(&process->account, t->sink, BUDGET_THREADS, 1))
		return NULL;
	thread = calloc(1, sizeof(*thread));
	if (!thread) {
		account_release(&process->account, BUDGET_THREADS, 1);
		return NULL;
	}
	comm = comm ?: find_comm(process, tid, found);
	thread->name = strdup(comm ?: process->comm);
	if (!thread->name) {
		account_release(&process->account, BUDGET_THREADS, 1);
		free(thread);
		return NULL;
	}
	thread->id = ++t->last;
	thread->tid = tid;
	thread->ns_tid = ns_tid;
	thread->key = thread_key(process->pid, tid ?: -ns_tid);
	thread->process = process;
	thread->named = comm;
	if (comm)
		set_comm(thread, comm);
	else
		set_gone(t, thread);
	thread_add(t, thread);
	return thread;
}

struct thread *threads_at(struct threads *t, struct process *process, pid_t tid, uint64_t time_ns)
{
	struct thread *at = youngest(t, thread_key(process->pid, tid)), *found = NULL;

	for (; at && !(found && found->since_ns <= time_ns); at = at->older)
		if (at->process == process)
			found = at;
	if (!found)
		found = new_thread(t, process, tid, 0, NULL);
	if (found)
		threads_define(t, found);
	return found;
}

struct thread *threads_now(struct threads *t, struct process *process, pid_t tid)
{
	return threads_at(t, process, tid, UINT64_MAX);
}

/* ---- tids in a JVM's pid namespace ---- */

static void number_found(void *ctx, pid_t pid, pid_t tid)
{
	struct pair_map *numbers = ctx;
	pid_t ns_tid = numbers->count < HOST_TIDS_MAX ? procfs_ns_tid(pid, tid) : 0;

	if (ns_tid)
		(void)pair_put(numbers, (uint64_t)ns_tid, 0, (uint32_t)tid); /* without memory, it stays unknown */
}

void threads_read_numbers(struct process *process)
{
	process->host_tids_ns = now_ns();
	pair_map_free(&process->host_tids);
	(void)procfs_threads(process->pid, number_found, &process->host_tids); /* it may have ended */
}

void threads_started(struct process *process, pid_t tid)
{
	if (!process->in_namespace)
		return;
	number_found(&process->host_tids, process->pid, tid);
	/* Dropping the entries of ended threads makes room. */
	if (process->host_tids.count >= HOST_TIDS_MAX && now_ns() - process->host_tids_ns > NUMBERS_AGAIN_NS)
		threads_read_numbers(process);
}

/* The host's tid as far as it has been read; 0: it has not. */
static pid_t known_host_tid(const struct process *process, pid_t ns_tid)
{
	const struct pair_entry *e;

	if (!process->in_namespace)
		return ns_tid;
	e = pair_find(&process->host_tids, (uint64_t)ns_tid, 0);
	return e ? (pid_t)e->value : 0;
}

pid_t threads_host_tid(struct threads *t, struct process *process, pid_t ns_tid)
{
	pid_t tid = known_host_tid(process, ns_tid);

	if (tid || !process->in_namespace)
		return tid;
	sideband_read(t->sideband); /* it may have started after the last read */
	return known_host_tid(process, ns_tid);
}

struct thread *threads_met(const struct threads *t, const struct process *process, pid_t ns_tid)
{
	pid_t tid = known_host_tid(process, ns_tid);
	struct thread *thread = tid ? youngest(t, thread_key(process->pid, tid)) : NULL;

	return thread && thread->process == process ? thread : NULL;
}

struct thread *threads_java(struct threads *t, struct process *process, pid_t ns_tid, const char *started_as)
{
	struct thread *thread;
	pid_t tid;

	if (ns_tid <= 0)
		return NULL;
	tid = threads_host_tid(t, process, ns_tid);
	thread = youngest(t, thread_key(process->pid, tid ?: -ns_tid));
	if (thread && thread->process == process &&
	    !(started_as && (thread->flags & TRACE_THREAD_JAVA) && strcmp(started_as, thread->name) != 0))
		return thread;
	return new_thread(t, process, tid, ns_tid, NULL);
}

/* ---- the side-band ---- */

void threads_ended(struct threads *t, pid_t pid, pid_t tid)
{
	struct thread *thread = youngest(t, thread_key(pid, tid));

	if (thread)
		set_gone(t, thread);
}

/*
 * A thread that nothing has referred to yet is kept for its name, which cannot be looked up after its end. The trace
 * has it when something does refer to it.
 */
void threads_comm(struct threads *t, struct process *process, pid_t tid, const char *comm)
{
	struct thread *thread = youngest(t, thread_key(process->pid, tid));
	char name[16];

	while (thread && thread->process != process) /* of an earlier program, whose records came late */
		thread = thread->older;
	snprintf(name, sizeof(name), "%.15s", comm);
	if (!thread) {
		if (tid != process->pid) /* that one has the process's name */
			(void)new_thread(t, process, tid, 0, name);
		return;
	}
	if (strcmp(thread->comm, name) == 0)
		return;
	if (!(thread->flags & TRACE_THREAD_JAVA)) {
		thread_call(thread, name);
		if (thread->defined)
			threads_emit(t, thread);
	}
	set_comm(thread, name);
}
