// SPDX-License-Identifier: Apache-2.0
/*
 * A filter selects a part of a trace by process, thread, time and frames. The commands fill it from their options. A
 * zeroed filter selects everything.
 */
#ifndef BRAID_ANALYZE_FILTER_H
#define BRAID_ANALYZE_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include <util/moment.h>

#include "util/vec.h"

struct pattern {
	regex_t re;
	const char *text; /* as written; not owned */
};

/* KEY=VALUE */
struct attribute_is {
	const char *text; /* as written; not owned */
	size_t key_length;
};

/* KEY~PATTERN */
struct attribute_like {
	char *key;
	const char *pattern; /* behind the key */
};

/* How long spans last, in ns, both included. */
struct span_length {
	uint64_t least_ns, most_ns;
};

struct trace_id {
	uint64_t hi, lo;
};

struct filter {
	VEC(uint32_t) pids; /* in the host's namespace; any of them matches */
	VEC(uint32_t) tids;
	VEC(const char *) comms;   /* exact names of the process or the thread; not owned */
	VEC(const char *) cgroups; /* parts of the path of the process's control group; not owned */
	bool has_from, has_to;
	struct moment from, to;		     /* to is exclusive; see analysis_window() */
	bool norm;			     /* removes what differs from run to run from names: analysis_expand() */
	VEC(struct pattern) include;	     /* a stack needs a frame whose name matches one of these */
	VEC(struct pattern) exclude;	     /* and no frame whose name matches one of these */
	const char *pair;		     /* spans are those of span_pairs.h; not owned, or NULL */
	const char *calls;		     /* those of span_calls.h, the same way */
	const char *function;		     /* those of span_functions.h */
	VEC(uint64_t) spans;		     /* span ids; any of them matches */
	VEC(struct attribute_is) attributes; /* of spans, which have an id of `spans` or one of these */
	VEC(struct attribute_like) likes;    /* of spans, which match one of these, too */
	bool has_length;		     /* and last as long as this */
	struct span_length length;
	VEC(struct trace_id) traces; /* any of them matches */
	bool each;		     /* the samples are needed one by one */
	VEC(char *) idle;	     /* more frames in which threads wait for work: idle.h */
};

/* Each adds one condition, as written on a command line. 0, -EINVAL for an invalid `text`, or -ENOMEM. */
int filter_add_pids(struct filter *f, const char *text); /* "1,2,3" */
int filter_add_tids(struct filter *f, const char *text);
/*
 * "00f067aa0ba902b7,...", KEY=VALUE, KEY~PATTERN, "duration>50ms" (also >=, <, <= and =1ms..1s), or once FROM..TO,
 * method:PATTERN or uprobe:FUNCTION; it keeps the pointer to KEY=VALUE and the last three.
 */
int filter_add_spans(struct filter *f, const char *text);
int filter_add_traces(struct filter *f, const char *text);
int filter_add_comm(struct filter *f, const char *text);   /* keeps the pointer */
int filter_add_cgroup(struct filter *f, const char *text); /* the same */
/* Extended regular expressions; the pointers are kept. -EINVAL fills *why, of `size` bytes. */
int filter_add_include(struct filter *f, const char *text, char *why, size_t size);
int filter_add_exclude(struct filter *f, const char *text, char *why, size_t size);

/* A prefix of frames' names; a copy is kept. */
int filter_add_idle(struct filter *f, const char *text);

bool filter_is_set(const struct filter *f);
/* Whether it selects by thread or process. */
bool filter_has_thread(const struct filter *f);
bool filter_has_window(const struct filter *f);
bool filter_has_stack(const struct filter *f);
bool filter_has_span(const struct filter *f);
/* Whether sums of the samples do not suffice. */
bool filter_needs_samples(const struct filter *f);
bool filter_selects_process(const struct filter *f, uint32_t pid, const char *cgroup);
bool filter_selects_thread(const struct filter *f, uint32_t pid, uint32_t tid, const char *comm, const char *name,
			   const char *cgroup);

void filter_free(struct filter *f);

#endif
