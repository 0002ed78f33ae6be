// SPDX-License-Identifier: Apache-2.0
/*
 * What happened in JVMs, as an analysis shows it: what passes the filter, with its thread, its stack and its weight.
 * Rows are not trusted: ids that lead nowhere make events without a thread or with a damaged stack.
 */
#ifndef BRAID_ANALYZE_EVENTS_H
#define BRAID_ANALYZE_EVENTS_H

#include <stdbool.h>

#include "analysis.h"
#include "kinds.h"

struct event {
	const struct jvm_event_row *row; /* LIVE, UNCOLLECTED: the object's allocation */
	const struct kind *k;
	uint32_t kind;
	uint32_t thread;      /* row of a->threads, ROW_NONE: not known; the group of a virtual thread */
	uint32_t stack;	      /* row of a->nodes, ROW_NONE: none, see xframe */
	uint32_t xframe;      /* as in struct stack_sum */
	uint32_t other;	      /* as thread */
	uint32_t other_stack; /* as stack */
	const char *name;
	uint32_t name_id;     /* the same when the name is, within a kind */
	uint64_t start_ns;    /* of the part that is in the filter's window */
	uint64_t duration_ns; /* of that part; LIVE, UNCOLLECTED: the object's age */
	uint32_t survived;    /* LIVE: collections */
	bool idle;	      /* BLOCKED: of a thread that waited for work */
	uint64_t weight;
	double variance; /* of the weight, where it is an estimate */
};

/* Where in the program something happened: innermost Java frame outside of the JDK, else innermost Java frame, else
 * innermost frame. An xframe, or ROW_NONE for a stack that is ROW_NONE. */
uint32_t events_site(const struct analysis *an, uint32_t stack);

/* "demo.Main.work", a site's name. */
const char *events_site_name(const struct analysis *an, uint32_t site);

/* As many as there are numbers for events_get. */
size_t events_count(const struct analysis *an);
/* False when the filter does not want it, or when it is told by another event. */
bool events_get(const struct analysis *an, size_t number, struct event *e);

/* Any row of a->events, LIVE and UNCOLLECTED as they stand there. False when the filter does not want it. */
bool events_of_row(const struct analysis *an, const struct jvm_event_row *row, struct event *e);

/* When an event of a trace ended, which is when it was told. */
uint64_t event_end_ns(const struct jvm_event_row *row);

/* Was it chosen, at least for a while? What was not is shown nowhere as zero. */
bool events_recorded(const struct analysis *an, enum braid_event_type type);
/* The same of one JVM: an agent is needed for most, and what it refuses is not recorded. `process` is of the trace. */
bool events_recorded_of(const struct analysis *an, uint32_t process, enum braid_event_type type);

/* The events of one kind on their stacks. 0 or -ENOMEM. */
int events_profile(const struct analysis *an, uint32_t kind, struct profile *p);

/* ---- for analysis.c ---- */

int events_new(struct events **out, struct analysis *an);
void events_free(struct events *ev);

/* ---- blocked.c: why a thread was off the CPU ---- */

enum blocked_why { BLOCKED_CALL, BLOCKED_PARKED, BLOCKED_SLEEPING, BLOCKED_WAITING, BLOCKED_MONITOR };

/* What a frame of this name on top of a stack makes of `why`, which its callers made. */
enum blocked_why blocked_frame(enum blocked_why why, const char *name, enum stack_domain domain);
/* Does a thread with this frame, or of this name, wait for work, so that it is idle and not held up? */
bool blocked_idle_frame(const char *name);
bool blocked_idle_thread(const char *name, bool java);
/* For people; *id tells names apart. */
const char *blocked_reason(enum blocked_why why, uint32_t flags, uint32_t *id);

#endif
