// SPDX-License-Identifier: Apache-2.0
/*
 * An analysis: the meaning of a trace under one filter (names, sums, quality), derived from an analyzer's state. The
 * commands make one and pass it to views and exports. It refers to the analyzer, which must be neither fed nor freed
 * before it. The order of everything in it depends on the trace's content only.
 */
#ifndef BRAID_ANALYZE_ANALYSIS_H
#define BRAID_ANALYZE_ANALYSIS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer.h"
#include "cgroup.h"
#include "filter.h"
#include "names.h"
#include "profile.h"
#include "recorded.h"
#include "state.h"

/* A name and the kind of the code with that name. */
struct sym {
	uint32_t name; /* in names */
	uint8_t kind;  /* enum stack_kind */
	bool named;    /* false: the name only describes what is known instead */
};

/* A frame as reports show it: a raw frame has several when methods were inlined. */
struct xframe {
	uint32_t sym;
	uint32_t line;	 /* from the line table or the debug information, 0: not known */
	uint32_t file;	 /* its source file, in the analyzer's strings; 0: not known */
	uint32_t method; /* id of the Java method; 0: none, or not known */
	int32_t bci;	 /* in that method; -1: not known */
};

struct expansion {
	size_t first; /* in xframes, root first */
	uint32_t count;
};

/* One node of the trace: a stack. */
struct stack {
	uint32_t parent; /* row, ROW_NONE at the root */
	uint32_t frame;	 /* row of a->frames, ROW_NONE when it is missing */
	uint32_t depth;
	uint8_t cause; /* enum stack_cause */
	bool detached; /* its parent is missing */
	bool included, excluded;
};

struct frame_counts {
	uint64_t java, java_named;
	uint64_t native, native_named; /* with the JVM's stubs */
	uint64_t kernel;
};

struct events;

struct analysis {
	const struct analyzer *a;
	const struct filter *filter;
	struct strpool names;
	VEC(struct sym) syms;
	struct u64map sym_of;	/* name and kind to syms' index + 1 */
	uint32_t *symbol_names; /* per row of a->symbols: the demangled name, 0 until it is needed */
	uint32_t *method_names; /* per row of a->methods: the name with its class, the same way */
	VEC(struct xframe) xframes;
	struct expansion *expansions; /* per row of a->frames */
	struct mapping *mappings;     /* sorted by process, module and address */
	struct stack *stacks;	      /* per row of a->nodes */
	uint32_t *order;	      /* rows of stacks, parents first */
	struct profile samples;	      /* the samples that pass the filter */
	struct profile *hits;	      /* the same of each of a->hits */
	uint64_t *thread_weight;      /* per row of a->threads */
	uint64_t *sym_weight;	      /* per sym: of all frames with it, recursive calls each */
	uint64_t unknown_thread_weight;
	struct quality java; /* of Java threads' samples */
	struct frame_counts frames;
	uint64_t distinct_stacks;
	struct recorded recorded; /* events.h */
	struct events *events;	  /* the same */
	uint64_t duration_ns;
	uint64_t start_ns;	    /* the recording's start, from which all shown times count */
	uint64_t start_realtime_ns; /* the same since 1970, 0: not known */
	uint64_t from_ns, to_ns;    /* the filter's window, on the trace's clock */
};

/*
 * 0, -ENOMEM, an error of analysis_window(), or -EINVAL: filter_needs_samples() without analyzer_keep_samples. `filter`
 * must outlive the analysis.
 */
int analysis_new(struct analysis **out, const struct analyzer *a, const struct filter *filter);
void analysis_free(struct analysis *an);

/* The time of a recording and the part of it that a filter selects, all on the trace's clock. */
struct window {
	uint64_t start_ns, end_ns;
	uint64_t start_realtime_ns; /* since 1970, 0: not known */
	uint64_t from_ns, to_ns;    /* 0 and UINT64_MAX: no limit */
};

/* Facts of a recording of which this trace has only a part: the part's window, on the trace's clock. */
#define WINDOW_FROM "cut.from_ns"
#define WINDOW_TO "cut.to_ns"

/*
 * 0; -ENODATA: the trace does not contain the time of day; -EDOM: the filter's times select nothing; -ERANGE: they are
 * outside of the recording. *w is filled except for unknown times.
 */
int analysis_window(struct window *w, const struct analyzer *a, const struct filter *filter);

/* The moment at which the selected part begins. */
uint64_t window_begin_ns(const struct window *w);

bool analysis_has_window(const struct analysis *an);
bool analysis_selects_time(const struct analysis *an, uint64_t time_ns);
/* Clips an interval to the window; false when nothing is left. An interval without duration is a point. */
bool analysis_clip(const struct analysis *an, uint64_t *start_ns, uint64_t *duration_ns);
/* Time since the recording's start; 0 before it. */
uint64_t analysis_since(const struct analysis *an, uint64_t time_ns);
/* The end of the window, or of the recording, as time since the start. */
uint64_t analysis_end_ns(const struct analysis *an);
/* How long the window, or the recording, is: the time that everything else is about. */
uint64_t analysis_shown_ns(const struct analysis *an);
/* Whether duration_ns is known: an imported trace without times may have none. */
bool analysis_has_duration(const struct analysis *an);

const struct process_row *analysis_process(const struct analysis *an, uint32_t process); /* never NULL */
/* A thread row's own name, else its process's. Never NULL. */
const char *analysis_thread_name(const struct analysis *an, uint32_t thread_row);
/* The process's name; in a container, NAME@CONTAINER. Returns `to`. */
#define PROCESS_LABEL_MAX (16 + CONTAINER_NAME_MAX)
const char *analysis_label(const struct analysis *an, uint32_t process, char to[PROCESS_LABEL_MAX]);
bool analysis_selects_process(const struct analysis *an, const struct process_row *p);
/* A process's own events belong to its first thread. */
bool analysis_selects_first_thread(const struct analysis *an, const struct process_row *p);
bool analysis_selects_thread(const struct analysis *an, uint32_t thread_row);
bool analysis_selects_stack(const struct analysis *an, uint32_t stack_row);
bool analysis_selects_span(const struct analysis *an, uint32_t span); /* an id of the trace, or 0 */
/* The sum to which samples of a thread and a node, by their ids, belong. False: the filter excludes them. */
bool analysis_sum_of(const struct analysis *an, uint32_t thread, uint32_t node, uint64_t weight, struct stack_sum *sum);
/* A process's figure: its STAT value when the trace has one, else `otherwise`. */
uint64_t analysis_stat(const struct analysis *an, uint32_t process, const char *key, uint64_t otherwise);
bool analysis_has_stat(const struct analysis *an, uint32_t process, const char *key);
const char *analysis_module_path(const struct analysis *an, uint32_t module); /* "" when unknown */
const char *analysis_sym_name(const struct analysis *an, uint32_t sym);

/* Adds samples of a thread on a node, both as trace ids, unless the filter excludes them. */
int analysis_add(struct analysis *an, struct profile *to, uint32_t thread, uint32_t node, uint64_t weight);
/* The same for an analyzer's sums. */
int analysis_add_sums(struct analysis *an, struct profile *to, const struct stack_sums *sums);

/* ---- expand.c ---- */

int analysis_expand(struct analysis *an);
/* The name and kind of a piece of compiled code; NULL without memory. */
const char *analysis_code_name(struct analysis *an, const struct code_row *c, enum stack_kind *kind);
/* The source file of an xframe; "" when it is not known. */
const char *analysis_file(const struct analysis *an, const struct xframe *x);
/* The frames of a stack row, from the innermost one on. */
typedef void (*frame_fn)(void *ctx, const struct analysis *an, const struct xframe *x);
void analysis_each_frame(const struct analysis *an, uint32_t stack, frame_fn fn, void *ctx);
/* The mapping of a native frame's module in its process, NULL when the trace does not have it. */
const struct mapping *analysis_mapping(const struct analysis *an, const struct frame_row *f, uint64_t address);

#endif
