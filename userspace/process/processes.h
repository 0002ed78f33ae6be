// SPDX-License-Identifier: Apache-2.0
/* Process images, their executable mappings and their threads, as far as they are recorded. */
#ifndef BRAID_PROCESS_PROCESSES_H
#define BRAID_PROCESS_PROCESSES_H

#include "modules.h"
#include "threads.h"
#include "config/options.h"
#include "kernel/kernel_side.h"
#include "sink/budgets.h"
#include "sink/sink.h"
#include "util/pair_map.h"
#include "util/vec.h"

#include <uthash.h>

/*
 * What has ended is kept for so long: its last samples, and what its JVM had to report, have been read by then, however
 * much there is of it.
 */
#define PROCESS_KEEP_NS 2000000000ULL

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
	uint64_t since_ns;     /* fork or exec, 0: before the recording */
	uint64_t ended_ns;     /* 0: running */
	uint64_t start_ticks;  /* of the process, see procfs_start_ticks() */
	uint64_t last_exit_ns; /* its first thread has ended, others go on, and this was the last to end; 0: it has not
				*/
	char comm[16];
	struct process *older, *newer;	      /* images of the same pid */
	VEC(struct process_mapping) mappings; /* sorted by start, not overlapping */
	VEC(struct process_mapping) past;     /* what some of their addresses meant a moment ago, oldest end first */
	uint32_t generation;		      /* counts what may change the meaning of an address in it */
	/* Another number whenever mappings take the place of others; the kernel side's samples say what they know. */
	uint32_t layout;
	uint64_t layout_ns;	   /* since when */
	uint32_t deferred_in_vain; /* late walks in a row that came no further */
	struct mapping_extent extent;
	bool shown;		   /* the kernel side has an entry for it */
	bool dirty;		   /* mappings changed since they were shown */
	bool inherits;		   /* the kernel side has given it what it has of its parent */
	uint64_t libjvm_ns;	   /* when libjvm.so was seen in it; 0: not so far */
	bool layout_wanted;	   /* of its JVM: nobody has said so far, see layouts.h */
	uint64_t layout_spent_ns;  /* on looking for it */
	bool considered;	   /* it is known whether an agent is to be attached to it */
	struct jvm *jvm;	   /* NULL: none whose stacks can be walked */
	uint32_t jvm_slot;	   /* of the kernel side, when it has a JVM */
	bool in_namespace;	   /* of pids; known when it has a JVM */
	struct pair_map vthreads;  /* (number, 0): trace id, extra: hash of the name */
	struct pair_map host_tids; /* in a namespace: (number there, 0): number of the thread on the machine */
	uint64_t host_tids_ns;	   /* when all were read */
	struct thread *threads;
	struct account account;
	/* In one of the lists of struct processes: of those to be shown, or, when it has ended, to be forgotten. */
	struct process *prev, *next;
	bool listed;
	struct process *leaderless_prev, *leaderless_next;
	uint64_t gone_ns; /* when it was known that it has ended; 0: it runs */
	UT_hash_handle hh;
};

struct processes;

/* What others keep of a process; each may be NULL. */
struct process_hooks {
	void (*ended)(void *ctx, struct process *process);
	/* Nothing that is read from now on is about it: last words, and what was kept of it is freed. */
	void (*forgotten)(void *ctx, struct process *process);
	void (*freed)(void *ctx, struct process *process); /* at the latest */
	void *ctx;
};

int processes_new(struct processes **out, struct sink *sink, struct kernel_side *kernel, struct modules *modules,
		  struct threads *threads, const struct record_options *options);
void processes_hook(struct processes *p, const struct process_hooks *hooks);
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
void processes_exit(struct processes *p, pid_t pid, pid_t tid, uint64_t time_ns);
void processes_map(struct processes *p, pid_t pid, const struct mapping_fact *fact, uint64_t time_ns);
void processes_comm(struct processes *p, pid_t pid, pid_t tid, const char *comm);
void processes_thread_started(struct processes *p, pid_t pid, pid_t tid);
void processes_missed(struct processes *p); /* it has lost records */

/* Of processes whose first thread has ended: have the others, too? Forgets what ended a while ago. */
void processes_tick(struct processes *p);

/* Calls back with the latest image of every process. */
void processes_each(struct processes *p, void (*fn)(void *ctx, struct process *process), void *ctx);

/* What was refused to each since the last time. */
void processes_report(struct processes *p);

/* Shows the kernel side every process whose mappings changed. */
void processes_show(struct processes *p);
/* And those that share what their parents have: before each kernel_side_tick(). */
void processes_show_forked(struct processes *p);
/* Puts a JVM's slot into the process's entry, or takes it out. */
void processes_set_jvm(struct processes *p, struct process *process, struct jvm *jvm, uint32_t slot);
/* How many are there whose JVM's layout is wanted; and it is not of this one any more. */
uint32_t processes_layouts_wanted(const struct processes *p);
void processes_layout_done(struct processes *p, struct process *process);

/* Is it there, and has its number not been given to another one? */
bool process_is_there(const struct process *process);

/* Did a walk that knew the layout `layout` know what the process's addresses meant at time_ns? */
bool process_layout_known(const struct process *process, uint32_t layout, uint64_t time_ns);
/* A late walk has reached the end or not; in vain too often, no more are asked for. */
void processes_unwound_deferred(struct processes *p, struct process *process, bool complete);

/* ---- mappings.c ---- */

/* What was mapped at the address at time_ns, or is now; NULL when nothing. */
const struct process_mapping *process_mapping_at(const struct process *process, uint64_t address, uint64_t time_ns);
/* 1: mapped; 0: it was already; *changed: addresses mean something else now. */
int process_map(struct process *process, const struct process_mapping *mapping, bool *changed);
int process_map_as(struct process *process, const struct process *from);

#endif
