// SPDX-License-Identifier: Apache-2.0
/*
 * The tables that only some kinds of events have: blocking, lives of threads, compilations, the start. views.c fills
 * them; the exports read them.
 */
#ifndef BRAID_VIEWS_EVENT_VIEWS_H
#define BRAID_VIEWS_EVENT_VIEWS_H

#include "event_sums.h"

/* Who blocked whom, on a monitor of which class, and where the owner released it. */
struct blocker_view {
	uint32_t blocked, owner; /* rows of a->threads */
	const char *blocked_name, *owner_name;
	const char *monitor;
	uint32_t site; /* of the owner; an xframe */
	uint64_t count, ns, max_ns;
};

struct life_view {
	uint32_t thread;	       /* row of a->threads */
	uint64_t started_ns, ended_ns; /* 0: outside of the recording */
	uint64_t cpu_ns, system_ns;    /* known once it has ended */
	uint64_t samples;
	uint64_t blocked_ns, waited_ns, lock_ns;
	uint64_t allocated;
	bool reported; /* its start or its end has an event */
};

struct method_compiles {
	const char *method;
	uint32_t process;
	uint64_t count;
	uint64_t ns, bytes;
	uint64_t deopts;
};

struct compile_view {
	const char *method;
	uint32_t pid;
	uint32_t flags;			    /* BRAID_COMPILE_* */
	uint64_t at_ns, duration_ns, bytes; /* duration_ns 0: not known */
};

#define COMPILE_LEVELS 8

struct level_view {
	uint64_t count, ns, bytes, failed;
	uint64_t timed; /* those with a known duration, for which failure is known, too */
};

struct code_heap_view {
	const char *heap;
	uint32_t pid;
	uint64_t first, last, max, reserved; /* bytes */
	uint64_t first_ns, last_ns;	     /* times of the first and last reading */
};

struct bind_view {
	uint32_t pid;
	const char *method, *symbol; /* symbol is "" when not known */
	uint64_t address;
};

/* A span of a JVM's start, or a phase that the JVM reached. */
struct start_view {
	uint32_t process; /* id */
	uint32_t pid;
	const char *phase;				/* "" for the end of a span */
	uint64_t at_ns;					/* since the process's start */
	uint64_t loaded, compiled, threads, exceptions; /* cumulative, up to that time */
	uint64_t paused_ns;				/* in GC pauses */
};

#define DISTRIBUTION_POWERS 64

/* Calls of a method, by the powers of two of ns between which they lasted. */
struct distribution {
	uint64_t calls[DISTRIBUTION_POWERS], ns[DISTRIBUTION_POWERS];
};

/* Calls of a timed method, however short. */
struct timed_view {
	const char *method;
	uint32_t distribution; /* index of event_views.distributions */
	uint64_t calls, ns, longest_ns;
	uint64_t p50_ns, p99_ns; /* about: calls are counted by powers of two */
};

/* A call of a timed method that has an event. */
struct call_view {
	const char *method;
	uint32_t thread;  /* row of a->threads, or ROW_NONE */
	uint32_t vthread; /* id; 0: a platform thread */
	uint64_t key;	  /* equal for calls of one thread, platform or virtual */
	uint64_t at_ns, ns;
	uint64_t self_ns; /* without such calls inside */
	bool thrown;
	const char *exception; /* class of what was thrown; "": not known, or nothing */
	const char *values;    /* "arg1=42, this.name=\"orders\"" */
};

/* Writes to a field in one method. */
struct write_view {
	const char *field, *writer;
	uint32_t field_id;
	uint64_t writes, events;
	uint64_t field_writes; /* of the field, in all methods */
};

/* What a stack has allocated of one class. Objects are estimates, as bytes are. */
struct site_view {
	const char *class;
	uint32_t stack; /* row, ROW_NONE: none */
	uint64_t live_bytes, allocated_bytes;
	double live_objects, allocated_objects;
	double live_variance; /* of live_bytes */
	/* Those that a collection has freed, and how old they got. */
	uint64_t died_bytes;
	double died_objects;
	double died_survived;		 /* of them: had survived a collection */
	uint64_t age_p50_ns, age_p90_ns; /* as old as that half, nine tenths of them at most */
	uint64_t age_max_ns;
	uint32_t process;      /* id, of those that are live; 0: of several JVMs, or there are none */
	double live_survived;  /* collections, a mean of those that are live */
	uint64_t grown_bytes;  /* of a suspect: after the first quarter; else 0 */
	double grown_per_hour; /* bytes */
};

/* An object that a collection has left in use, and from when to when it was there. */
struct site_object {
	uint32_t site, process;	 /* index; id */
	uint32_t survived;	 /* collections */
	uint64_t from_ns, to_ns; /* UINT64_MAX: it still is */
	uint64_t weight;
};

/* JNI references of one JVM, at its last report of them. */
struct jni_view {
	uint32_t process; /* id */
	uint64_t at_ns;
	uint64_t created, deleted; /* since they were watched; those that were created then */
	uint64_t unwatched;	   /* created when there were too many to watch */
	uint64_t others;	   /* deleted ones that are older, or were not watched */
};

/* A collection that began when a critical section of JNI ended, because it had to wait for that. */
struct held_view {
	uint32_t process;
	uint64_t number;	/* the collection's */
	uint64_t at_ns, gc_ns;	/* of its pause */
	uint64_t end_ns;	/* of the section */
	uint64_t section_ns;	/* 0: the section is not known, it was too short to be recorded */
	uint32_t thread, stack; /* of the section; rows or ROW_NONE */
};

/*
 * A native method: the time in the code that it is bound to, without Java methods that this code calls, but for
 * `total`. Times of single calls are those that a return probe of the code has reported.
 */
struct native_view {
	const char *method;
	uint64_t self, total; /* samples */
	uint64_t vm, kernel;  /* of `self`: in functions of the JVM, in the kernel */
	uint64_t blocks, blocked_ns, longest_block_ns;
	uint64_t calls, call_ns, longest_call_ns;
};

/* A second of the recording. */
struct class_second {
	uint64_t second, loaded, unloaded;
};

struct event_views {
	struct kind_view *kinds; /* BRAID_JVM_EVENTS */
	VEC(struct blocker_view) blockers;
	VEC(struct blocker_view) pools; /* the same with the trailing numbers of thread names removed */
	struct strpool texts;
	VEC(struct life_view) lives; /* by CPU time; empty unless starts and ends were recorded */
	struct level_view levels[COMPILE_LEVELS];
	VEC(struct compile_view) compiles;  /* the longest first */
	VEC(struct method_compiles) storms; /* compiled at least STORM times, most frequent first */
	VEC(struct code_heap_view) heaps;
	VEC(struct bind_view) binds; /* by pid and method */
	VEC(struct start_view) starts;
	VEC(struct class_second) classes;
	VEC(struct timed_view) methods; /* by time */
	VEC(struct distribution) distributions;
	VEC(struct call_view) calls;		/* the slowest first */
	VEC(struct write_view) writes;		/* by field, those with the most writes first; then by writes */
	VEC(struct site_view) sites;		/* by what is live; empty unless that was recorded */
	uint64_t live_bytes;			/* of all sites */
	VEC(const struct site_view *) died;	/* those of which objects died, by their bytes */
	uint64_t died_bytes;			/* of all sites */
	VEC(const struct site_view *) suspects; /* those that grow, by how much */
	VEC(struct jni_view) jni;
	VEC(struct held_view) held;	 /* by section; empty unless sections were recorded */
	VEC(struct native_view) natives; /* by samples, then by what they were blocked for */
};

#define STORM 4

int event_views_new(struct event_views **out, const struct analysis *an);
void event_views_free(struct event_views *v);

/* ---- event_jit.c ---- */
int event_views_jit(struct event_views *v, const struct analysis *an);
/* ---- event_jni.c ---- */
int event_views_jni(struct event_views *v, const struct analysis *an);
/* ---- event_methods.c ---- */
int event_views_methods(struct event_views *v, const struct analysis *an);
/* ---- event_writes.c ---- */
int event_views_writes(struct event_views *v, const struct analysis *an);
/* ---- event_natives.c ---- */
int event_views_natives(struct event_views *v, const struct analysis *an);
/* ---- event_sites.c ---- */
int event_views_sites(struct event_views *v, const struct analysis *an);
/* ---- event_suspects.c ---- */
/* Finds which sites grow, and by how much. Sorts the objects. */
void event_suspects_find(struct event_views *v, struct site_object *objects, size_t count);
/* ---- event_start.c ---- */
int event_views_start(struct event_views *v, const struct analysis *an);
/* ---- event_threads.c ---- */
int event_views_threads(struct event_views *v, const struct analysis *an);
/* "pool-1-thread-*": the name without its last number, in `texts` if it had one; NULL without memory. */
const char *thread_pattern(struct strpool *texts, const char *name);

#endif
