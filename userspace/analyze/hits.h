// SPDX-License-Identifier: Apache-2.0
/*
 * Samples of hit events (tracepoints, functions, USDT probes) beside those of the clock, which they are not mixed
 * with. The analyzer and the analysis collect them; views and exports read them.
 */
#ifndef BRAID_ANALYZE_HITS_H
#define BRAID_ANALYZE_HITS_H

#include "analysis.h"

/* Begins the key of the figure that counts an event's hits; the event follows, as `record -e` took it. */
#define HITS_STAT "hits "

/* Where an event was hit: the site of its stacks, see wait_site(). */
struct hit_site {
	const char *name;
	uint32_t line; /* 0: not known */
	uint64_t key;
	uint64_t samples;
};

/* What samples have as values, "fd=3 count=100". */
struct hit_value {
	const char *text;
	uint64_t samples;
};

struct hit_view {
	const char *name;	       /* of the event, as `record -e` took it */
	const struct profile *profile; /* its samples */
	const struct hit_event *event; /* the same, as recorded; NULL: those of the recording, or none */
	uint64_t hits;		       /* those that were no samples, too; 0: not known */
	VEC(struct hit_site) sites;    /* the most frequent first */
	VEC(struct hit_value) values;  /* the same */
};

struct hit_views {
	VEC(struct hit_view) events; /* the most frequent first */
};

int hit_views_new(struct hit_views *v, const struct analysis *an);
void hit_views_free(struct hit_views *v);

/*
 * Whether a person means the event by that name: it is the whole name, the part in front of the filter and the values,
 * or what follows a colon of either.
 */
bool hits_named(const char *event, const char *typed);

/* The event that a person names. 0; -ENOENT: there is none; -ENOTUNIQ: there are two, neither by its whole name. */
int hits_by_name(const struct analyzer *a, const char *typed, const struct hit_event **out);

/* Its samples, the recording's sampling event included; NULL: there is none, or more than one. */
const struct profile *hits_profile(const struct analysis *an, const char *typed);

/* The sum that a sample with values belongs to. False: the filter excludes it. */
bool hits_select(const struct analysis *an, const struct sample *s, struct stack_sum *sum);
/* The duration of a call among the values of its return, "retval=3 elapsed=512ns". */
bool hits_elapsed(const char *values, uint64_t *ns);

/* ---- for analyzer.c and analysis.c ---- */

int hits_feed(struct analyzer *a, uint32_t name, const struct sample *one, struct trace_str text);
int hits_keep_values(struct analyzer *a, struct hit_event *h, const struct sample *one, struct trace_str text);
void hits_free(struct analyzer *a);
int hits_collect(struct analysis *an);

#endif
