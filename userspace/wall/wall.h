// SPDX-License-Identifier: Apache-2.0
/*
 * Where the time of threads went. The life of a thread is cut into segments, in order, without gaps and without
 * overlaps: on a CPU, waiting for a CPU, or blocked, each with a state. What is known in sum only (times that were too
 * short for a record of their own) is in the sums of a thread, and not in its segments. A thread's sums add up to its
 * life exactly: what no record explains is WALL_UNKNOWN.
 *
 * Everything is under the analysis's filter. A window cuts segments exactly; what is known in sum only is shared out in
 * proportion to the time between the segments. With --include, the "life" is what the chosen stacks have of it.
 */
#ifndef BRAID_WALL_WALL_H
#define BRAID_WALL_WALL_H

#include <stdbool.h>
#include <stdint.h>

#include <analyze/analysis.h>

enum wall_state {
	WALL_RUNNING,
	WALL_RUNNABLE,	/* waited for a CPU */
	WALL_CARRIER,	/* a virtual thread: for a carrier */
	WALL_GC,	/* a Java thread that stood still for a collector */
	WALL_SAFEPOINT, /* for another VM operation */
	/* what a Java thread did, by its stack */
	WALL_MONITOR,
	WALL_PARKED,
	WALL_WAITING, /* Object.wait */
	WALL_SLEEPING,
	/* what the kernel says */
	WALL_FUTEX,
	WALL_POLL,
	WALL_SOCKET,
	WALL_PIPE,
	WALL_FILE,
	WALL_BLOCK_IO,
	WALL_FAULT,
	WALL_STOPPED,
	WALL_CHILD,
	WALL_CALL,
	WALL_BLOCKED, /* the reason is not known */
	WALL_IDLE,    /* blocked for want of work: idle.h. In sums only; a segment has its own state */
	WALL_UNKNOWN, /* no record explains it */
	WALL_STATES,
};

/* "runnable", a key; and "waited for a CPU", for people. */
const char *wall_key(enum wall_state state);
const char *wall_title(enum wall_state state);
/* Whether a thread in this state waits for something else than a CPU or the VM. */
bool wall_is_blocked(enum wall_state state);

/* A part of a thread's life, inside the window. */
struct wall_segment {
	enum wall_state state; /* WALL_RUNNING: between two times off the CPU, short ones included */
	bool idle;
	bool first; /* of the segments of its row */
	uint64_t start_ns, end_ns;
	const struct jvm_event_row *row; /* OFFCPU, or LOCK of a parked thread; NULL: it was not off the CPU */
	uint32_t stack;			 /* row of a->nodes, ROW_NONE: none */
	uint32_t object;		 /* in a->strings: a path, an address, a class; 0: not known */
};

/* An OS thread, or a virtual thread. */
struct wall_range {
	size_t first, count;
};

struct wall_thread {
	uint32_t thread;	   /* row of a->threads with its name, or with that of the virtual thread's group */
	uint32_t vthread;	   /* id of the virtual thread; 0: an OS thread */
	bool java;		   /* at least for a while */
	bool known;		   /* its life is recorded; else it is from its first to its last time off the CPU */
	uint64_t start_ns, end_ns; /* its life, also outside of the window */
	uint64_t life_ns;	   /* what of it is selected: the sum of ns */
	uint64_t ns[WALL_STATES];
	uint64_t summed_ns[WALL_STATES]; /* those of ns that are in no segment; WALL_RUNNING: all of it */
	uint64_t excess_ns;		 /* what records say beyond the life, and is left out */
	uint64_t running_ns, runnable_ns, counted_ns[WALL_STATES]; /* as recorded, for the whole life */
	uint64_t chosen_ns[WALL_STATES];			   /* those of counted_ns that the filter selects */
	struct wall_range sums;					   /* in wall.sums */
	struct wall_range rows;					   /* in wall.rows, or wall.vthread_rows */
	size_t most;						   /* of these, those of the row with its name */
};

struct wall_weight {
	uint64_t selected, all;
};

struct wall {
	const struct analysis *an;
	/*
	 * One for each row of a->threads; life_ns 0: not selected, or joined. Behind them those of wall_add_vthread().
	 */
	VEC(struct wall_thread) threads;
	uint32_t *leader;	/* of each row of a->threads: the thread above that it is */
	uint32_t *rows;		/* events of threads, by thread and time: indices */
	uint32_t *sums;		/* their sums of times off the CPU with a stack, by thread: indices */
	uint32_t *vthread_rows; /* events of virtual threads, by virtual thread and time: indices */
	size_t vthread_count;
	struct wall_pauses *gc, *safepoints;
	/*
	 * Of waits for a monitor, and of parks of virtual threads, by index: that of the LOCK that they are parts of,
	 * plus one.
	 */
	struct u64map lock_of;
	struct wall_weight *weights;  /* of the samples of each row of a->threads, if the filter selects stacks */
	uint64_t nobodys, nobodys_ns; /* times off the CPU without a thread */
};

/* 0 or -ENOMEM. `an` must outlive it. */
int wall_new(struct wall **out, const struct analysis *an);
void wall_free(struct wall *w);

/* Whether a row is a time off the CPU. */
bool wall_is_off_cpu(const struct jvm_event_row *r);
/* What the kernel says with these flags of OFFCPU. */
enum wall_state wall_state_of_class(uint32_t flags);

/* Calls fn for each segment of a thread, in order, until it returns another value than 0, which is returned. */
typedef int (*wall_fn)(void *ctx, const struct wall_thread *t, const struct wall_segment *s);
int wall_each(const struct wall *w, const struct wall_thread *t, wall_fn fn, void *ctx);

/* The LOCK with an owner that a wait for a monitor is a part of; NULL: none. */
const struct jvm_event_row *wall_lock_of(const struct wall *w, const struct jvm_event_row *r);
/*
 * The row that says in `other` for which thread `r` waited: itself, or the LOCK that it is a part of. By a timer of its
 * own HotSpot looks again whether a monitor is free, but the thread waits for the owner. Nobody knows for whom a
 * virtual thread waited all the time.
 */
const struct jvm_event_row *wall_waited_for(const struct wall *w, const struct jvm_event_row *r);
/* The last time off the CPU of a row of a->threads that began before; `ended`: and ended. NULL: none. */
const struct jvm_event_row *wall_last(const struct wall *w, uint32_t thread, uint64_t time_ns, bool ended);
/* The waker's own wait that ended while `r` lasted: without it, the waker could have come earlier; of
 * the owner of a monitor, also one that still lasts. NULL: none. */
const struct jvm_event_row *wall_wait_before(const struct wall *w, uint32_t waker, const struct jvm_event_row *r);
/* Why the wait ended if no thread ended it: "timer", "[not known]". */
const char *wall_ended_by(const struct wall *w, const struct jvm_event_row *r);
/* The same, and who has what a thread still waits for: "[not ended], held by main". */
#define WALL_END_TEXT 256
void wall_end_text(char to[WALL_END_TEXT], const struct wall *w, const struct jvm_event_row *r);
/* The row of the thread that ended the wait; ROW_NONE: none that is known. */
uint32_t wall_waker(const struct wall *w, const struct jvm_event_row *r);

/* The time at which a thread that was off the CPU could run again. */
uint64_t wall_woken_ns(const struct jvm_event_row *row);

/* What a thread was blocked for, by its row and its stack. */
enum wall_state wall_state_of(const struct analysis *an, const struct jvm_event_row *row);

#define WALL_CHAIN_MAX 8 /* waits of a chain */

/* x * part / whole, without overflow; 0 without a whole. */
uint64_t wall_share(uint64_t x, uint64_t part, uint64_t whole);

/* A time that is shared out in proportion to weights, one after the other; the shares add up to all of it. */
struct wall_shares {
	uint64_t ns;
	uint64_t weight; /* of all */
	uint64_t given_ns, given_weight;
};

/* The share of the next one. */
uint64_t wall_shares_next(struct wall_shares *s, uint64_t weight);

/* A part of a thread's time that is known in sum only. */
struct wall_part {
	enum wall_state state;
	uint32_t stack;			 /* ROW_NONE: not known */
	const struct jvm_event_row *row; /* NULL: not known */
	uint64_t ns;
};

/*
 * Calls fn for each part of a thread's summed_ns, but running: those that the recorder has added up by stack, and the
 * rest. Until fn returns another value than 0, which is returned.
 */
typedef int (*wall_part_fn)(void *ctx, const struct wall_thread *t, const struct wall_part *p);
int wall_each_part(const struct wall *w, const struct wall_thread *t, wall_part_fn fn, void *ctx);

/* ---- pauses.c: when the Java threads of a JVM stood still ---- */

struct wall_pause {
	uint32_t process;
	uint64_t start_ns, end_ns;
	const struct jvm_event_row *row;
};

/* By process and time, without overlaps. */
struct wall_pauses {
	VEC(struct wall_pause) list;
};

/* The pauses of an event kind, NULL without memory. */
struct wall_pauses *wall_pauses_new(const struct analysis *an, uint32_t kind);
void wall_pauses_free(struct wall_pauses *p);
/* The first pause of a process that ends after `time_ns`; NULL: none. */
const struct wall_pause *wall_pauses_after(const struct wall_pauses *p, uint32_t process, uint64_t time_ns);
/* The next one of the same process. */
const struct wall_pause *wall_pauses_next(const struct wall_pauses *p, const struct wall_pause *pause);

/* Fills in the sums of a thread whose rows and recorded sums are known. */
void wall_sum_thread(const struct wall *w, struct wall_thread *t);

/* ---- vthreads.c ---- */

/*
 * Calls fn for each virtual thread that was followed, until it returns another value than 0, which is returned. Of a
 * virtual thread's life, what it was mounted is in the lives of its carriers, too. `t` is gone after the call.
 */
typedef int (*wall_vthread_fn)(void *ctx, const struct wall_thread *t);
int wall_each_vthread(const struct wall *w, wall_vthread_fn fn, void *ctx);
/* Fills in the one with that id; false: there is none. */
bool wall_vthread(const struct wall *w, uint32_t vthread, struct wall_thread *t);

/* Keeps one of these in w->threads, to be asked about like an OS thread. 0 or -ENOMEM. */
int wall_add_vthread(struct wall *w, const struct wall_thread *t);
/*
 * Who had the lock that a virtual thread was parked for when it parked; "": nobody, or not known. Behind others in the
 * lock's queue, it may later have waited for another thread.
 */
const char *wall_parked_owner(const struct wall *w, const struct jvm_event_row *r);
/* A thread's name, of a virtual one its own. */
const char *wall_name(const struct wall *w, const struct wall_thread *t);
/* The number that it has in its process: that of the OS thread, or of the virtual one. */
uint64_t wall_number(const struct wall *w, const struct wall_thread *t);
/* The same of one of w->threads. */
const char *wall_thread_name(const struct wall *w, uint32_t thread);
uint64_t wall_thread_number(const struct wall *w, uint32_t thread);
/* The id of the process of one of w->threads. */
uint32_t wall_thread_process(const struct wall *w, uint32_t thread);

/* Fills in what wall_each_vthread() needs. 0 or -ENOMEM. */
int wall_vthreads_find(struct wall *w);

/* ---- lives.c ---- */

/* Whether a row only says for which object a thread was blocked. */
bool wall_is_note(const struct jvm_event_row *r);
/* Whether such a row says it of the thread's time `r`. */
bool wall_is_inside(const struct jvm_event_row *r, const struct jvm_event_row *note);
/* The order of two rows of a thread, by their indices in `events`. */
int wall_compare_rows(const void *x, const void *y, void *events);
void wall_extend_life(struct wall_thread *t, uint64_t start_ns, uint64_t end_ns);
/* Takes what a row says in sum. */
void wall_take_life(struct wall_thread *t, const struct jvm_event_row *r);
void wall_take_counted(const struct wall *w, struct wall_thread *t, const struct jvm_event_row *r);

/* Fills w->threads, except for what is selected of them, w->leader, w->rows, w->sums and w->lock_of. 0 or -ENOMEM. */
int wall_lives(struct wall *w);

/* ---- samples.c: what threads did while they ran ---- */

/* The samples of OS threads in the window, selected ones and others; virtual threads' are their carriers'. `thread` is
 * an index of w->threads, `stack` a row. Until fn returns another value than 0, which is returned. */
typedef int (*wall_sample_fn)(void *ctx, const struct stack_sum *s);
int wall_samples(const struct wall *w, wall_sample_fn fn, void *ctx);

/* Fills w->weights. 0 or -ENOMEM. */
int wall_weigh(struct wall *w);

/* ---- sums.c: what is known in sum only ---- */

/* What is said of a COUNTED of OFFCPU: why, or that the thread was idle. */
enum wall_state wall_state_of_sum(const struct wall *w, const struct jvm_event_row *r);

/*
 * Fills the sums of a thread. `gap_ns` of its life was not off the CPU by its segments, `inside_ns` of it in the
 * window; `placed_runnable_ns` of its life it waited for a CPU by its segments.
 */
void wall_sum(const struct wall *w, struct wall_thread *t, uint64_t gap_ns, uint64_t inside_ns,
	      uint64_t placed_runnable_ns);

#endif
