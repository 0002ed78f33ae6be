// SPDX-License-Identifier: Apache-2.0
/*
 * Sums of events per kind: how many, how much, and by what. Each table has the heaviest row first, then the order of
 * names. views and exports read it.
 */
#ifndef BRAID_VIEWS_EVENT_SUMS_H
#define BRAID_VIEWS_EVENT_SUMS_H

#include <analyze/events.h>

struct event_sum {
	const char *name;
	uint32_t line;	 /* of a site; 0: not known */
	uint32_t thread; /* row, for sums by thread */
	uint32_t stack;	 /* row, for sums by stack */
	uint64_t key;
	uint64_t count;
	uint64_t weight;
	uint64_t max;		   /* of the weight */
	uint64_t value, value_max; /* of the field `value` */
	uint64_t duration_ns;	   /* summed */
	uint64_t survived;	   /* sum over objects with ages: collections survived */
	uint64_t caught;	   /* of thrown events: the weight of those that were caught on their stack, */
	uint64_t left;		   /* and the Java frames that they left until then */
	double variance;	   /* of the weight */
	bool only_counted;	   /* events above a rate: neither where nor in which thread they were is known */
};

enum event_by { BY_NAME, BY_DETAIL, BY_SITE, BY_THREAD, BY_CALLER, BY_STACK, BYS };
extern const char *const event_by_names[BYS]; /* keys; a kind's own title for its name and detail takes precedence */

struct event_table {
	VEC(struct event_sum) sums;
	struct u64map of; /* key to sums' index + 1, while they are added */
};

struct kind_view {
	const struct kind *k;
	uint32_t kind;
	uint64_t count;		    /* of the events with a record each, and of sums of them */
	uint64_t summed, summed_ns; /* those in sums, of which no single times are known but the longest */
	uint64_t weight, max, value, value_max, duration_ns;
	double variance;
	uint64_t p99;		      /* of the weights, in ns */
	uint64_t unread, unread_ns;   /* of OFFCPU: nobody read what the Java thread was parked for */
	uint64_t idle, idle_ns;	      /* idle threads, which are in none of the other figures */
	uint64_t counted, counted_ns; /* further events without a record each: too short or too many */
	struct event_table by[BYS];
	VEC(uint64_t) times;
};

int kind_views_new(struct kind_view **out, const struct analysis *an); /* an array of BRAID_JVM_EVENTS */
void kind_views_free(struct kind_view *views);

/* The standard error of an estimate, as a share of the estimate. */
double event_error(double variance, uint64_t weight);

#endif
