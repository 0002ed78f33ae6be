// SPDX-License-Identifier: Apache-2.0
/*
 * The moments of a trace that can begin and end spans: hits of events, and system calls, by the names that people type.
 */
#ifndef BRAID_VIEWS_SPAN_BOUNDS_H
#define BRAID_VIEWS_SPAN_BOUNDS_H

#include <analyze/state.h>

/* A hit event of a trace; the recording's sampling event can be one, too. */
struct span_source {
	const char *name;
	const struct sample *samples;
	size_t count;
	const struct hit_values *values;
	size_t value_count;
};

/* The one with that number; false: there are fewer. */
bool span_source(const struct analyzer *a, size_t i, struct span_source *to);

struct span_bound {
	uint64_t time_ns;
	uint64_t owner; /* span_owner() */
	bool ends;
};

struct span_bounds { /* with the members of a VEC */
	struct span_bound *at;
	size_t count, room;
};

/* Adds all hits of an event. 0 or -ENOMEM. */
int span_bounds_add_hits(const struct span_source *s, bool ends, struct span_bounds *to);

/*
 * Adds the hits of the event that is named so, as for hits_by_name(). Otherwise the name is that of a system call, also
 * without the digit at its end: its returns are added (`sys_exit_NAME`, or SYSCALL events), or else its calls. 0;
 * -ENOENT; -ENOTUNIQ: there are two such events; or -ENOMEM.
 */
int span_bounds_add(const struct analyzer *a, const char *typed, bool ends, struct span_bounds *to);

/* What span_bounds_add() finds, by name and separated by commas; cut at the buffer's end. "": nothing. */
void span_bounds_list(const struct analyzer *a, char *to, size_t size);

/* By owner and time. At the same time an end comes first: it is that of an earlier span. */
void span_bounds_sort(struct span_bounds *b);

#endif
