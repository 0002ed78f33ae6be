// SPDX-License-Identifier: Apache-2.0
/*
 * One moment of a recording: which thread was on each CPU, what each thread did or waited for, and what lasted then:
 * garbage collections, safepoints, waits, compilations, spans. `braid at` asks. What was not recorded is not in it.
 */
#ifndef BRAID_EXPLAIN_AT_H
#define BRAID_EXPLAIN_AT_H

#include <analyze/events.h>
#include <views/span_view.h>

#include "timeline.h"

struct at_cpu {
	uint32_t cpu;
	uint32_t thread;	     /* row of a->threads, ROW_NONE: none that is recorded */
	uint64_t start_ns, end_ns;   /* of its time on the CPU; 0: only the sample is known */
	const struct sample *sample; /* the nearest one, NULL: none within a sampling period */
};

struct at_thread {
	uint32_t thread;  /* row of a->threads */
	uint32_t vthread; /* id of the virtual thread; 0: an OS thread */
	struct wall_segment segment;
	uint32_t cpu;			    /* on which it ran, UINT32_MAX: not known */
	const struct sample *sample;	    /* of what it ran, as above */
	const struct jvm_event_row *waited; /* LOCK or WAIT: the object, and who had it or woke it; NULL: not known */
	uint32_t waker;			    /* row of a->threads: ended a time off the CPU, or owned what is still
					       waited for; ROW_NONE: not known */
	uint32_t waker_stack;		    /* row of a->nodes */
	const char *parked_owner;	    /* wall_parked_owner(); "": not known */
};

/* What a thread did, in the order in which the threads of a view come. */
enum at_activity { AT_RUNNING, AT_RUNNABLE /* or stopped by the VM */, AT_BLOCKED, AT_IDLE, AT_ACTIVITIES };

struct at_view {
	const struct analysis *an;
	uint64_t at_ns;
	VEC(struct at_cpu) cpus;
	VEC(struct at_thread) threads; /* by activity, those that had done so longest first */
	VEC(struct event) events;      /* that lasted then, but for times off the CPU: by kind and start */
	VEC(struct span_sum) spans;    /* that had begun and had not ended, the oldest first */
	struct span_view *all_spans;   /* which has them */
	bool idle;		       /* with idle threads */
	bool lives;		       /* times off the CPU are recorded, so `threads` is all recorded ones */
};

/* How far away from the moment a sample may be to say what ran. */
uint64_t at_near_ns(const struct analyzer *a);

/*
 * 0 or -ENOMEM. `tl` must outlive it; its analyzer keeps samples, at least those that are near the moment. `idle`: with
 * idle threads.
 */
int at_view_new(struct at_view **out, const struct timeline *tl, uint64_t at_ns, bool idle);
void at_view_free(struct at_view *v);

enum at_activity at_activity(const struct at_thread *t);

/* The name of a thread, of a virtual one its own, and its number. */
const char *at_thread_name(const struct at_view *v, const struct at_thread *t);
uint64_t at_thread_number(const struct at_view *v, const struct at_thread *t);

#endif
