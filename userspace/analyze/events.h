// SPDX-License-Identifier: Apache-2.0
/*
 * JVM events of an analysis: those that pass the filter, with thread, stack and weight. views, tables and exports read
 * them. Rows are not trusted: invalid ids make events without a thread or with a damaged stack.
 */
#ifndef BRAID_ANALYZE_EVENTS_H
#define BRAID_ANALYZE_EVENTS_H

#include <stdbool.h>

#include "analysis.h"
#include "kinds.h"
#include "places.h"

struct event {
	const struct jvm_event_row *row; /* LIVE, DIED, UNCOLLECTED, UNFREED: the allocation */
	const struct kind *k;
	uint32_t kind;
	uint32_t thread;      /* row of a->threads, ROW_NONE: not known; a virtual thread counts as its group */
	uint32_t stack;	      /* row of a->nodes, ROW_NONE: none, see xframe */
	uint32_t xframe;      /* as in struct stack_sum */
	uint32_t other;	      /* as thread */
	uint32_t other_stack; /* as stack */
	const char *name;
	uint32_t name_id;     /* equal for equal names of one kind */
	uint64_t start_ns;    /* of the part that is in the filter's window */
	uint64_t duration_ns; /* of that part; LIVE, DIED, UNCOLLECTED, UNFREED: the age */
	uint32_t survived;    /* LIVE: collections */
	bool idle;	      /* OFFCPU: the thread waited for work */
	bool summed;	      /* OFFCPU: many, added up by the recorder */
	uint64_t count;	      /* of a sum; else 1 */
	uint64_t longest;     /* weight of the longest one */
	uint64_t weight;
	double variance; /* of the weight, when it is an estimate */
};

/* The number of valid arguments of events_get. */
size_t events_count(const struct analysis *an);
/* False when the filter excludes the event, or another event covers it. */
bool events_get(const struct analysis *an, size_t number, struct event *e);

/*
 * The same for any row of a->events; LIVE, DIED, UNCOLLECTED, UNFREED and JNI_REF are taken as they are. False when the
 * filter excludes it.
 */
bool events_of_row(const struct analysis *an, const struct jvm_event_row *row, struct event *e);

/* Whether a row's event has another number, because another row says more of it. Such rows may have no event at all. */
bool event_is_derived(const struct jvm_event_row *row);
/* The index of the row that an event comes from; that of an allocation is another one. */
size_t events_row(const struct analysis *an, size_t number);
/* Whether the filter's threads, stacks and spans select a row, whatever its time is. */
bool event_selected_whenever(const struct analysis *an, const struct jvm_event_row *row);

/* Whether a row is a sum of times off the CPU with a stack: a COUNTED. */
bool event_is_sum(const struct jvm_event_row *row);
/* events_get(), but such a row is an OFFCPU event with `summed`. */
bool events_get_summed(const struct analysis *an, size_t number, struct event *e);

/* What is known of what a Java thread was parked for. */
enum event_blocker {
	BLOCKER_OTHER,	  /* it was not parked, or is no Java thread */
	BLOCKER_NOT_READ, /* it was not read, or not who had it: the time was too short, or it could not be read */
	BLOCKER_NONE,	  /* it was parked for no object, or waited for something else in the VM */
	BLOCKER_READ,	  /* it is the event's object; without an owner, it had none */
};
/* The same of an OFFCPU row; another one's is BLOCKER_OTHER. */
enum event_blocker event_blocker(const struct analysis *an, const struct jvm_event_row *row);
/* "none", "read", "not read"; NULL: BLOCKER_OTHER. */
const char *event_blocker_name(enum event_blocker blocker);

/* Whether a thread that is off the CPU on a stack is idle. Both are rows, or ROW_NONE. */
bool event_is_idle(const struct analysis *an, uint32_t thread, uint32_t stack);

/* The row of its thread, of a virtual one that of its group; ROW_NONE: not known. */
uint32_t event_thread(const struct analyzer *a, const struct jvm_event_row *row);
/* The end of an event of a trace, at which it was emitted. */
uint64_t event_end_ns(const struct jvm_event_row *row);
/*
 * The middle of its time. The kernel may say a switch 0.1 ms too early (bpf/offcpu/queued.bpf.h), and so a time off the
 * CPU may begin before the call, or the wait, in which it was: that which has the middle.
 */
uint64_t event_middle_ns(const struct jvm_event_row *row);
/*
 * Whether a thread was still off the CPU when the recording ended. Then nobody has woken it, and `other` is who owned
 * what it waited for at that time.
 */
static inline bool event_is_open(const struct jvm_event_row *row)
{
	return (row->kind == BRAID_JVM_OFFCPU && row->flags & BRAID_OFFCPU_OPEN) ||
	       (row->kind == BRAID_JVM_LOCK && row->flags & BRAID_LOCK_OPEN);
}
/* Whether it is a time for which a virtual thread was unmounted. */
bool event_is_unmounted(const struct jvm_event_row *row);

/* Where in the program it happened: events_site(), or wait_site() if its stack begins with the kernel's frames. */
uint32_t event_site(const struct analysis *an, const struct event *e);

/* Whether the type was enabled, at least for a while. Reports show no zeros for types that were not. */
bool events_recorded(const struct analysis *an, enum braid_event_type type);
/* The limit below which the recording has no events of this kind; 0: none, or it is not known. */
uint64_t events_min_ns(const struct analysis *an, uint32_t kind);
/* The bytes that a sampled allocation of `bytes` represents: as the recorder reports, or by the sampling interval. */
uint64_t events_estimate(const struct analysis *an, uint64_t bytes, uint64_t reported);
/*
 * The same for one JVM: most types need an agent, and types that the JVM refuses are not recorded. `process` is a trace
 * id.
 */
bool events_recorded_of(const struct analysis *an, uint32_t process, enum braid_event_type type);
/* Whether the kernel side recorded what threads were blocked by, for `wait` or for `offcpu`. */
bool events_blocked_recorded(const struct analysis *an);

/* What an event adds to its kind's profile. */
struct stack_sum events_sum(const struct event *e);
/* The events of one kind on their stacks. 0 or -ENOMEM. */
int events_profile(const struct analysis *an, uint32_t kind, struct profile *p);

/* ---- for analysis.c ---- */

int events_new(struct events **out, struct analysis *an);
void events_free(struct events *ev);

#endif
