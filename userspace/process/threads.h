// SPDX-License-Identifier: Apache-2.0
/* The threads of recorded processes: by what numbers they are known, and what they are called. */
#ifndef BRAID_PROCESS_THREADS_H
#define BRAID_PROCESS_THREADS_H

#include "sink/sink.h"

#include <uthash.h>

struct process;
struct sideband;
struct threads;

/* Bytes of what a JVM calls them, with the zero behind; more is cut. */
#define THREAD_NAME_MAX 256
#define THREAD_GROUP_MAX 64

struct thread {
	uint32_t id; /* trace's */
	pid_t tid;   /* 0: it had ended before the number that its JVM gives it was looked up */
	pid_t ns_tid;
	uint64_t key;	/* its process's number, and tid, or without that minus ns_tid */
	uint32_t flags; /* TRACE_THREAD_* */
	struct process *process;
	struct thread *older; /* an earlier thread of the same key */
	char *name;
	/* Of a Java thread, as its JVM reports it. */
	char *group;	      /* or NULL */
	uint64_t since_ns;    /* 0: not known, or before the recording */
	uint64_t java_thread; /* address of its JavaThread */
	uint64_t java_cpu_ns; /* CPU time of the OS thread when it became this one */
	uint64_t java_system_ns;
	bool java_runs;			      /* between start and end */
	bool java_started;		      /* its start was told */
	uint64_t gone_ns;		      /* when it was known that it has ended; 0: it runs */
	struct thread *prev, *next;	      /* of the same process */
	struct thread *gone_prev, *gone_next; /* that have ended, in the order of gone_ns */
	UT_hash_handle hh;
};

int threads_new(struct threads **out, struct sink *sink);
/* What tells of threads that are younger than the last look at it. */
void threads_follow(struct threads *t, struct sideband *sideband);
void threads_free(struct threads *t);

/* What the thread `tid` of `process` was at a time, made known to the trace on first sight; NULL: no room. */
struct thread *threads_at(struct threads *t, struct process *process, pid_t tid, uint64_t time_ns);
/* What it is now. */
struct thread *threads_now(struct threads *t, struct process *process, pid_t tid);
/*
 * Java threads: found by the number that the JVM's own namespace gives them. An OS thread can be one Java thread after
 * the other (main, then DestroyJavaVM): `started_as` is the name of one that just started, NULL asks for whichever it
 * is now.
 */
struct thread *threads_java(struct threads *t, struct process *process, pid_t ns_tid, const char *started_as);
/* The machine's number of a thread that its process calls ns_tid; 0: it has ended, or there is none. */
pid_t threads_host_tid(struct threads *t, struct process *process, pid_t ns_tid);

/* Without memory a thread keeps the name that it has. */
void thread_call(struct thread *thread, const char *name);
void threads_emit(struct threads *t, const struct thread *thread);

/* What the side-band reports. */
void threads_started(struct process *process, pid_t tid);
void threads_ended(struct threads *t, pid_t pid, pid_t tid);
void threads_comm(struct threads *t, const struct process *process, pid_t tid, const char *comm);

/* Reads by what numbers the threads of a process in a pid namespace are known there. */
void threads_read_numbers(struct process *process);

/* Forgets those that ended a while ago, and all of a process. */
void threads_tick(struct threads *t);
void threads_forget(struct threads *t, struct process *process);

#endif
