// SPDX-License-Identifier: Apache-2.0
/* Per kind of event: how many, how much, and by what. Heaviest first, then by name. */
#ifndef BRAID_ANALYZE_EVENT_SUMS_H
#define BRAID_ANALYZE_EVENT_SUMS_H

#include "events.h"

struct event_sum {
	const char *name;
	uint32_t line;	 /* of a site; 0: not known */
	uint32_t thread; /* row, for sums by thread */
	uint64_t key;
	uint64_t count;
	uint64_t weight;
	uint64_t max;		   /* of the weight */
	uint64_t value, value_max; /* of the field `value` */
	uint64_t duration_ns;	   /* summed */
	uint64_t survived;	   /* collections, of what has ages, summed */
	double variance;	   /* of the weight */
};

enum event_by { BY_NAME, BY_DETAIL, BY_SITE, BY_THREAD, BYS };
extern const char *const event_by_names[BYS]; /* keys; a kind's own title for its name and detail comes first */

struct event_table {
	VEC(struct event_sum) sums;
	struct u64map of; /* key to sums' index + 1, while they are added */
};

struct kind_view {
	const struct kind *k;
	uint32_t kind;
	uint64_t count; /* of those told */
	uint64_t weight, max, value, value_max, duration_ns;
	double variance;
	uint64_t p99;		      /* of the weights, in ns */
	uint64_t idle, idle_ns;	      /* of threads that waited for work, which are in none of the other figures */
	uint64_t counted, counted_ns; /* further ones: too short or too many to be told each */
	struct event_table by[BYS];
	VEC(uint64_t) times;
};

int kind_views_new(struct kind_view **out, const struct analysis *an); /* BRAID_JVM_EVENTS of them */
void kind_views_free(struct kind_view *views);

/* The standard error of an estimate, as a share of it. */
double event_error(double variance, uint64_t weight);

#endif
