// SPDX-License-Identifier: Apache-2.0
/* Process images, their executable mappings and their threads, as far as they are recorded. */
#ifndef BRAID_COLLECT_PROCESSES_H
#define BRAID_COLLECT_PROCESSES_H

#include "kernel/kernel_side.h"
#include "process/modules.h"
#include "record/session.h"

#include <uthash.h>

struct process_mapping {
	struct mapping_fact fact; /* its path is NULL: see module */
	struct module *module;
	uint64_t bias;
	uint64_t from_ns;  /* 0: before it was looked at first */
	uint64_t until_ns; /* of those in `past` */
};

/* One program image: exec makes a new one of the same pid, which keeps the earlier as `older`. */
struct process {
	uint32_t id; /* trace's */
	pid_t pid;
	uint64_t since_ns; /* fork or exec, 0: before the recording */
	uint64_t ended_ns; /* 0: running */
	char comm[16];
	struct process *older;
	struct process_mapping *mappings; /* sorted by start, not overlapping */
	uint32_t mapping_count, mapping_capacity;
	struct process_mapping *past; /* what some of their addresses meant a moment ago, oldest end first */
	uint32_t past_count, past_capacity;
	uint32_t generation; /* counts what may change the meaning of an address in it */
	/* Another number whenever mappings take the place of others; the kernel side's samples say what they know. */
	uint32_t layout;
	uint64_t layout_ns;    /* since when */
	uint32_t late_in_vain; /* late walks in a row that came no further */
	struct mapping_extent extent;
	bool shown;	    /* the kernel side has an entry for it */
	bool dirty;	    /* mappings changed since they were shown */
	bool inherits;	    /* the kernel side has given it what it has of its parent */
	uint64_t libjvm_ns; /* when libjvm.so was seen in it; 0: not so far */
	bool considered;    /* it is known whether an agent is to be attached to it */
	struct jvm *jvm;    /* NULL: no agent in it */
	bool in_namespace;  /* of pids; known when it has an agent */
	UT_hash_handle hh;
};

struct thread {
	uint32_t id; /* trace's */
	pid_t tid;
	pid_t ns_tid;
	uint32_t flags; /* TRACE_THREAD_* */
	struct process *process;
	struct thread *older; /* an earlier thread of the same tid */
	char name[256];
	/* Of a Java thread, as its JVM tells it. */
	char group[64];
	uint64_t since_ns;    /* 0: not known, or before the recording */
	uint64_t java_thread; /* address of its JavaThread */
	uint64_t java_cpu_ns; /* CPU time of the OS thread when it became this one */
	uint64_t java_system_ns;
	bool java_runs;	   /* between start and end */
	bool java_started; /* its start was told */
	UT_hash_handle hh;
};

int processes_new(struct processes **out, struct session *s);
void processes_free(struct processes *p);

/* Starts recording a process that runs already: reads its mappings. -ESRCH when there is none. */
int processes_add(struct processes *p, pid_t pid);
int processes_add_all(struct processes *p); /* every process on the machine */

/* The image of `pid` that ran at time_ns, NULL when it is not recorded. */
struct process *processes_find(struct processes *p, pid_t pid, uint64_t time_ns);
struct process *processes_latest(struct processes *p, pid_t pid);
/* The same, and when system-wide a process that nobody has told of is added. */
struct process *processes_get(struct processes *p, pid_t pid, uint64_t time_ns);
size_t processes_running(const struct processes *p); /* recorded and not ended */

/* What the side-band tells. */
void processes_fork(struct processes *p, pid_t pid, pid_t parent, uint64_t time_ns);
void processes_exec(struct processes *p, pid_t pid, const char *comm, uint64_t time_ns);
void processes_exit(struct processes *p, pid_t pid, uint64_t time_ns);
void processes_map(struct processes *p, pid_t pid, const struct mapping_fact *fact, uint64_t time_ns);
void processes_comm(struct processes *p, pid_t pid, pid_t tid, const char *comm);

/* Calls back with the latest image of every process. */
void processes_each(struct processes *p, void (*fn)(void *ctx, struct process *process), void *ctx);

/* Shows the kernel side every process whose mappings changed. */
void processes_show(struct processes *p);
/* And those that share what their parents have: before each kernel_side_tick(). */
void processes_show_forked(struct processes *p);
/* Puts a JVM's slot into the process's entry, or takes it out. */
void processes_set_jvm(struct processes *p, struct process *process, struct jvm *jvm);

/* Did a walk that knew the layout `layout` know what the process's addresses meant at time_ns? */
bool process_layout_known(const struct process *process, uint32_t layout, uint64_t time_ns);
/* A late walk has reached the end or not; in vain too often, no more are asked for. */
void processes_walked_late(struct processes *p, struct process *process, bool complete);

/* ---- mappings.c ---- */

/* What is, or at time_ns was, mapped at the address; NULL when nothing. */
const struct process_mapping *process_mapping_now(const struct process *process, uint64_t address);
const struct process_mapping *process_mapping_at(const struct process *process, uint64_t address, uint64_t time_ns);
/* 1: mapped; 0: it was already; *changed: addresses mean something else now. */
int process_map(struct process *process, const struct process_mapping *mapping, bool *changed);
int process_map_as(struct process *process, const struct process *from);

/* What the thread `tid` of `process` was at a time, made known to the trace on first sight. */
struct thread *processes_thread_at(struct processes *p, struct process *process, pid_t tid, uint64_t time_ns);
/* What it is now. */
struct thread *processes_thread(struct processes *p, struct process *process, pid_t tid);
/*
 * Java threads: found by the number that the JVM's own namespace gives them. An OS thread can be one Java thread after
 * the other (main, then DestroyJavaVM): `started_as` is the name of one that just started, NULL asks for whichever it
 * is now.
 */
struct thread *processes_java_thread(struct processes *p, struct process *process, pid_t ns_tid,
				     const char *started_as);
void processes_emit_thread(struct processes *p, const struct thread *t, struct trace_str group);

#endif
