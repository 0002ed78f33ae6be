// SPDX-License-Identifier: Apache-2.0
/*
 * The threads of recorded processes: their tids, on the host and in pid namespaces, and their names. Samples and JVM
 * events look threads up here; each is defined in the trace at first sight. The side-band may report its name before.
 */
#ifndef BRAID_PROCESS_THREADS_H
#define BRAID_PROCESS_THREADS_H

#include "sink/sink.h"
#include "util/comm.h"

#include <uthash.h>

struct process;
struct sideband;
struct threads;

/* Bytes of the names that a JVM reports, with the zero byte; longer ones are cut. */
#define THREAD_NAME_MAX 256
#define THREAD_GROUP_MAX 64

struct thread {
	uint32_t id; /* the trace's id */
	pid_t tid;   /* 0: it ended before its JVM's tid of it was looked up */
	pid_t ns_tid;
	uint64_t key;	/* pid, and tid or -ns_tid */
	uint32_t flags; /* TRACE_THREAD_* */
	struct process *process;
	struct thread *older; /* an earlier thread of the same key */
	char *name;
	char comm[COMM_BYTES + 1]; /* the kernel's name; empty: not known */
	uint64_t cut_ns;	   /* since when the name is that, and may be a part of a longer one; 0: it is whole */
	/* Of the search for the longer one, jvm/thread_names.c. */
	bool listed;	  /* the VM has it in its list of Java threads */
	uint8_t searches; /* of its stack, in vain */
	bool named;	  /* otherwise it was first met after its end, and has the process's name */
	bool defined;	  /* in the trace */
	/* Reported by the JVM, for a Java thread. */
	char *group;	      /* or NULL */
	uint64_t since_ns;    /* 0: not known, or before the recording */
	uint64_t java_thread; /* address of its JavaThread */
	uint64_t java_cpu_ns; /* CPU time of the OS thread when it became this thread */
	uint64_t java_system_ns;
	bool java_runs;	   /* it has started and not ended */
	bool java_started; /* its start was reported */
	/* Its last times off the CPU were on this stack, and timers ended them, since then; 0: none such. */
	uint32_t nap_node;
	uint64_t nap_ns;
	uint64_t gone_ns;		      /* when its end was noticed; 0: it runs */
	struct thread *prev, *next;	      /* of the same process */
	struct thread *gone_prev, *gone_next; /* threads that have ended, in the order of gone_ns */
	UT_hash_handle hh;
};

int threads_new(struct threads **out, struct sink *sink);
/* Sets the side-band, which reports threads that have started since its last read. */
void threads_follow(struct threads *t, struct sideband *sideband);
void threads_free(struct threads *t);

/* The thread `tid` of `process` at time_ns, defined in the trace at first sight. NULL without room. */
struct thread *threads_at(struct threads *t, struct process *process, pid_t tid, uint64_t time_ns);
/* The present one. */
struct thread *threads_now(struct threads *t, struct process *process, pid_t tid);
/*
 * A Java thread, by its tid in the JVM's pid namespace. One OS thread can be several Java threads in turn (main, then
 * DestroyJavaVM): `started_as` is the name of one that has just started, NULL means the present one. The caller defines
 * it.
 */
struct thread *threads_java(struct threads *t, struct process *process, pid_t ns_tid, const char *started_as);
/* The host's tid of a thread; 0: it has ended, or there is none. */
pid_t threads_host_tid(struct threads *t, struct process *process, pid_t ns_tid);

/* One that has been met, by that number; NULL: none, or it is not known which. Nothing is looked up. */
struct thread *threads_met(const struct threads *t, const struct process *process, pid_t ns_tid);

/* Without memory, the thread keeps its name. */
void thread_call(struct thread *thread, const char *name);
/*
 * Ends the search for the name that the kernel has cut: it is this one, in modified UTF-8, if the kernel's is a part of
 * it. Otherwise the thread keeps the kernel's, and this returns false.
 */
bool threads_call_whole(struct threads *t, struct thread *thread, const char *name, size_t length);
void threads_emit(struct threads *t, struct thread *thread);
/* Unless the trace has it. */
void threads_define(struct threads *t, struct thread *thread);

/* Reports of the side-band. */
void threads_started(struct process *process, pid_t tid);
void threads_ended(struct threads *t, pid_t pid, pid_t tid);
void threads_comm(struct threads *t, struct process *process, pid_t tid, const char *comm);

/* Reads the tids that the threads of a process have in its pid namespace. */
void threads_read_numbers(struct process *process);

/* threads_tick() forgets threads that ended a while ago, threads_forget() all of a process. */
void threads_tick(struct threads *t);
void threads_forget(struct threads *t, struct process *process);

#endif
