// SPDX-License-Identifier: Apache-2.0
/*
 * Processes: their images, executable mappings and threads. The side-band and the rooms above report changes here; this
 * shows the kernel side what it needs for walking stacks.
 */
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
 * How long an ended image is kept. All of its samples, and the reports of its JVM, are read within this time, and the
 * sums of its threads' times off the CPU (record/sums.h), which are up to two seconds old.
 */
#define PROCESS_KEEP_NS 4000000000ULL

struct process_mapping {
	struct mapping_fact fact; /* its path is NULL: see module */
	struct module *module;
	uint64_t bias;
	uint64_t from_ns;  /* 0: before it was first read */
	uint64_t until_ns; /* for mappings in `past` */
};

/* An attribute of a span whose key the process has not published yet. */
struct late_attribute {
	uint32_t span, value; /* the trace's ids */
	uint8_t index;	      /* of the key */
};

/* One program image. An exec makes a new one of the same pid, with the earlier one as `older`. */
struct process {
	uint32_t id; /* the trace's id */
	pid_t pid;
	uint64_t since_ns;     /* fork or exec; 0: before the recording */
	uint64_t ended_ns;     /* 0: running */
	uint64_t start_ticks;  /* of the process, see procfs_start_ticks() */
	uint64_t last_exit_ns; /* the last end of a thread after the end of the first one; 0: the first one runs */
	char comm[16];
	char *exe;			      /* the program's file; NULL: not known */
	struct process *older, *newer;	      /* images of the same pid */
	VEC(struct process_mapping) mappings; /* sorted by start, not overlapping */
	VEC(struct process_mapping) past;     /* mappings of a moment ago, oldest end first */
	uint32_t generation;		      /* counts changes in the meaning of its addresses */
	/*
	 * A new number whenever mappings replace others, or a walk can get further. The kernel side's samples have the
	 * number that they were walked with.
	 */
	uint32_t layout;
	uint32_t layout_replaced;  /* the number of the last replacement: older ones no longer hold */
	uint64_t layout_ns;	   /* the time of that */
	uint32_t deferred_in_vain; /* deferred unwinds in a row without a whole stack */
	struct mapping_extent extent;
	bool forked;		  /* and has executed no program since */
	bool shown;		  /* the kernel side has an entry for it */
	bool dirty;		  /* mappings have changed since they were shown */
	bool inherits;		  /* the kernel side has copied its parent's entry */
	uint64_t libjvm_ns;	  /* when libjvm.so was seen in it; 0: not yet */
	bool layout_wanted;	  /* its JVM's layout is still to be read, see layouts.h */
	uint64_t layout_spent_ns; /* on looking for it */
	bool considered;	  /* whether to attach an agent to it has been decided */
	bool agentless;		  /* it has been said that it gets no agent, see record/agentless.h */
	bool names_cut;		  /* the kernel has cut names of threads, see jvm/thread_names.h */
	uint64_t names_look_ns, names_wait_ns;
	struct jvm *jvm;		    /* NULL: no JVM whose stacks can be walked */
	uint32_t jvm_slot;		    /* on the kernel side, when it has a JVM */
	bool in_namespace;		    /* in a pid namespace of its own; set when it has a JVM */
	struct braid_context_place context; /* see contexts.h */
	bool context_wanted;		    /* not found yet */
	uint64_t context_look_ns, context_wait_ns;
	struct process_resource *resource;	    /* see resources.h; NULL: not looked at */
	VEC(struct late_attribute) late_attributes; /* see spans.h */
	struct pair_map vthreads;		    /* (number, 0): the trace's id; extra: hash of the name */
	struct pair_map host_tids;		    /* in a pid namespace: (tid there, 0): tid on the host */
	uint64_t host_tids_ns;			    /* when all were read */
	struct thread *threads;
	struct account account;
	/* In one of the lists of struct processes: to be shown, or, after its end, to be forgotten. */
	struct process *prev, *next;
	bool listed;
	struct process *leaderless_prev, *leaderless_next;
	uint64_t gone_ns; /* when its end was noticed; 0: it runs */
	UT_hash_handle hh;
};

struct processes;

/* What other rooms do at the end of a process. Each function may be NULL. */
struct process_hooks {
	void (*ended)(void *ctx, struct process *process);
	/* No later record refers to it: final records are emitted, and its state is freed. */
	void (*forgotten)(void *ctx, struct process *process);
	void (*freed)(void *ctx, struct process *process); /* at the latest */
	void *ctx;
};

int processes_new(struct processes **out, struct sink *sink, struct kernel_side *kernel, struct modules *modules,
		  struct threads *threads, const struct record_options *options);
void processes_hook(struct processes *p, const struct process_hooks *hooks);
void processes_free(struct processes *p);

/* Starts recording a running process and reads its mappings. -ESRCH when there is none. */
int processes_add(struct processes *p, pid_t pid);
/* The same for one that is to execute the program that is recorded: until then it is shown as what it is. */
int processes_add_launched(struct processes *p, pid_t pid);
int processes_add_all(struct processes *p); /* every process of the machine */

/* The image of `pid` that ran at time_ns; NULL when it is not recorded. */
struct process *processes_find(struct processes *p, pid_t pid, uint64_t time_ns);
struct process *processes_latest(struct processes *p, pid_t pid);
/* The same. With a system-wide recording it adds a process that has not been reported. */
struct process *processes_get(struct processes *p, pid_t pid, uint64_t time_ns);
size_t processes_running(const struct processes *p); /* recorded and not ended */

/* Reports of the side-band. */
void processes_fork(struct processes *p, pid_t pid, pid_t parent, uint64_t time_ns);
void processes_exec(struct processes *p, pid_t pid, const char *comm, uint64_t time_ns);
void processes_exit(struct processes *p, pid_t pid, pid_t tid, uint64_t time_ns);
void processes_map(struct processes *p, pid_t pid, const struct mapping_fact *fact, uint64_t time_ns);
void processes_comm(struct processes *p, pid_t pid, pid_t tid, const char *comm);
void processes_thread_started(struct processes *p, pid_t pid, pid_t tid);
void processes_missed(struct processes *p); /* records were lost */

/* Ends processes whose last thread has ended, and forgets those that ended a while ago. */
void processes_tick(struct processes *p);

/* Calls back with the latest image of every process. */
void processes_each(struct processes *p, void (*fn)(void *ctx, struct process *process), void *ctx);

/* Walks get further from now on: the kernel side is shown the process again, and uses no stack that it knows. */
void processes_walk_again(struct processes *p, struct process *process);
/* The kernel side is to be shown the process again. */
void processes_changed(struct processes *p, struct process *process);
/* The number of mappings so far of modules that may have variables of contexts.h. */
uint64_t processes_contexts(const struct processes *p);
/* Shows the kernel side every process whose mappings have changed. */
void processes_show(struct processes *p);
/* Also those that share their parents' extents. To be called before each kernel_side_tick(). */
void processes_show_forked(struct processes *p);
/* Sets or removes the JVM's slot in the process's entry. */
void processes_set_jvm(struct processes *p, struct process *process, struct jvm *jvm, uint32_t slot);
/* The number of JVMs whose layout is still to be read; processes_layout_done() removes one. */
uint32_t processes_layouts_wanted(const struct processes *p);
void processes_layout_done(struct processes *p, struct process *process);

/* Whether the process runs, and its pid has not been reused. */
bool process_is_there(const struct process *process);

/* Whether a walk under the layout `layout` knew what the process's addresses meant at time_ns. */
bool process_layout_known(const struct process *process, uint32_t layout, uint64_t time_ns);
/* Counts the result of a deferred unwind. After too many without a whole stack, the process gets no more. */
void processes_unwound_deferred(struct processes *p, struct process *process, bool complete);

/* ---- mappings.c ---- */

/* The mapping at the address at time_ns, or else the present one; NULL: none. */
const struct process_mapping *process_mapping_at(const struct process *process, uint64_t address, uint64_t time_ns);
/* Returns 1 when mapped, 0 when it was mapped already. *changed is set when addresses have another meaning now. */
int process_map(struct process *process, const struct process_mapping *mapping, bool *changed);
int process_map_as(struct process *process, const struct process *from);

#endif
