// SPDX-License-Identifier: Apache-2.0
/*
 * The tables of a report, filled from an analysis. Each is sorted by weight and then by name, so that the same trace
 * always gives the same report.
 */
#ifndef BRAID_VIEWS_VIEWS_H
#define BRAID_VIEWS_VIEWS_H

#include "event_views.h"
#include "gc.h"
#include "heap.h"
#include <analyze/hits.h>

#include <trace/trace.h>

struct method_view {
	const char *name;
	enum stack_domain domain;
	enum stack_kind kind; /* the kind of most of its samples */
	uint64_t self;
	uint64_t total;			  /* stacks that contain it, each once */
	uint64_t kind_weight[KIND_COUNT]; /* recursive calls count each */
};

/* A source line, with the samples in which it was the innermost one. */
struct line_view {
	const char *name; /* of the function or method */
	const char *file; /* "": not known */
	uint32_t line;
	uint64_t self;
};

struct thread_view {
	uint32_t row; /* of the analyzer's threads, ROW_NONE: not known */
	uint32_t pid, tid;
	bool java;
	const char *name;
	uint64_t weight;
};

struct process_view {
	uint32_t process; /* id */
	uint32_t pid;
	const char *comm;
	uint64_t weight;
};

struct jvm_view {
	uint32_t process; /* id */
	uint32_t pid;
	const struct jvm_row *row;
	uint64_t methods;
	uint64_t code_loads;
	uint64_t gc_pauses;
	uint64_t threads_started, threads_ended;
	uint64_t classes_unloaded;
};

struct loss_view {
	const char *hop, *kind;
	uint64_t count;
};

struct loss_views { /* with the members of a VEC; by hop and kind */
	struct loss_view *at;
	size_t count, room;
};

struct notice_view {
	const char *text;
	uint32_t severity;
	uint32_t pid; /* 0: the recording's */
	uint64_t times;
	uint64_t time_ns; /* of the first */
};

/* What a thread of a JVM that runs does, by its stack and its name. */
enum run_state {
	RUN_JAVA,     /* in Java methods and the JVM's stubs */
	RUN_NATIVE,   /* a Java thread in libraries */
	RUN_VM,	      /* a Java thread in the JVM's functions */
	RUN_COMPILER, /* compiles methods */
	RUN_GC,	      /* collects garbage */
	RUN_VM_THREAD,
	RUN_OTHER, /* another thread that is none of Java's */
	RUN_UNKNOWN,
	RUN_STATES,
};

struct state_view {
	uint64_t samples, kernel; /* `kernel`: those of them in the kernel */
};

struct views {
	const struct analysis *an;
	VEC(struct method_view) methods;
	VEC(struct line_view) lines;	 /* lines that are known */
	VEC(struct thread_view) threads; /* threads with samples */
	VEC(struct process_view) processes;
	VEC(struct jvm_view) jvms;	      /* by pid */
	struct state_view states[RUN_STATES]; /* of the threads of JVMs */
	struct gc_view gc;
	struct hit_views hits;	/* hit events */
	struct heap_views heap; /* histograms */
	struct loss_views losses;
	VEC(struct notice_view) notices; /* by time */
	struct event_views *events;
};

int views_new(struct views **out, const struct analysis *an);
void views_free(struct views *v);

/* ---- states.c ---- */

/* 0 or -ENOMEM. */
int views_states(struct views *v);
/* "in_java", a key; "in Java", for people. */
const char *run_state_key(enum run_state state);
const char *run_state_title(enum run_state state);

/* ---- losses.c ---- */

/* 0 or -ENOMEM. To be freed by free(to->at). */
int loss_views_fill(struct loss_views *to, const struct analyzer *a);
/* Adds what could not be read from the file as losses of the hop "file". 0 or -ENOMEM. */
int loss_views_add_damage(struct loss_views *to, const struct analyzer *a, const struct trace_damage *d);

/* ---- methods.c ---- */

int views_methods(struct views *v);

/* ---- lines.c ---- */

int views_lines(struct views *v);

#endif
